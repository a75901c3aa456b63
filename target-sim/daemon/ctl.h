/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `target-sim ctl`: the other end of the control socket.
 * Not here: the verbs (control.h). No standard.
 */
#ifndef LOCKSTEP_DAEMON_CTL_H
#define LOCKSTEP_DAEMON_CTL_H

enum CtlLimits {
    CTL_PATIENCE_S = 60, /* for an answer */
};

/**
 * ctl_main - carry out a command line
 * @argv: from "ctl" on
 *
 * Return: the exit status: 0, 1 when the machine refuses something (nobody listens), 2 when the
 * command line is wrong or target-sim refuses what is asked for.
 */
int ctl_main(int argc, char **argv);

#endif
