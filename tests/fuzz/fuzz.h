/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a fuzz body and the stand-alone driver know of each other.
 * Not here: libFuzzer, which needs nothing but LLVMFuzzerTestOneInput().
 * No standard.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * A body may define it: calls @add for each right input that mutations begin with. The bytes are
 * copied.
 */
typedef void FuzzAddFn(const uint8_t *data, size_t size);
void fuzz_corpus(FuzzAddFn *add);

#endif
