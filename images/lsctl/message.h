/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: how every part of lsctl says what went wrong.
 * Not here: exit statuses (device.h).
 * Standard: none.
 */
#ifndef LSCTL_MESSAGE_H
#define LSCTL_MESSAGE_H

#include <stdio.h>

/* "lsctl: ..." on standard error; the format is a literal without a newline. */
#define message(...) \
    (fputs("lsctl: ", stderr), fprintf(stderr, __VA_ARGS__), (void)fputc('\n', stderr))

#endif /* LSCTL_MESSAGE_H */
