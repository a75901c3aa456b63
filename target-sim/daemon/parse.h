/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text to numbers for the command line and the configuration file.
 * Error texts and key names do not live here: the callers know them.
 * No standard; the suffixes are powers of 1024 as in QEMU and fio.
 */
#ifndef LOCKSTEP_DAEMON_PARSE_H
#define LOCKSTEP_DAEMON_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * parse_uint - read an unsigned decimal or 0x-prefixed number
 * @text: NUL-terminated; no blanks, no sign, nothing behind the number
 * @min: lowest value allowed
 * @max: highest value allowed
 * @value: written only on success
 *
 * Return: true if @text is a number in [@min, @max].
 */
bool parse_uint(const char *text, uint64_t min, uint64_t max, uint64_t *value);

/**
 * parse_size - read a size with an optional suffix K, M, G or T
 * @text: NUL-terminated, such as "4096", "256M" or "1G"; case of the suffix
 *        does not matter
 * @bytes: written only on success
 *
 * Return: true if @text is a size that fits in 63 bits (what off_t can hold).
 */
bool parse_size(const char *text, uint64_t *bytes);

/**
 * parse_uuid - read a UUID, or an NGUID in either way nvmetcli writes it
 * @text: 32 hexadecimal digits, dashes between any two bytes are skipped
 * @id: 16 bytes in the order of the text; written only on success
 *
 * Return: true if @text has exactly 32 digits.
 */
bool parse_uuid(const char *text, uint8_t id[16]);

/**
 * parse_version - read an NVMe version, "1.3" or "1.2.1"
 * @text: NUL-terminated
 * @version: in the layout of the VS property (NVMe base, property VS):
 *           major << 16 | minor << 8 | tertiary; written only on success
 *
 * Return: true if @text has two or three parts, each in range.
 */
bool parse_version(const char *text, uint32_t *version);

/* One name of an enumeration; a table ends with a NULL name. */
typedef struct ParseName {
    const char *name;
    unsigned value;
} ParseName;

/**
 * parse_name - find a name in a table
 * @names: the table
 * @text: NUL-terminated
 * @value: written only on success
 *
 * Return: true if the table has @text.
 */
bool parse_name(const ParseName *names, const char *text, unsigned *value);

/**
 * parse_name_of - the reverse of parse_name
 * @names: the table
 * @value: a value that is in the table (asserted)
 *
 * Return: the name, static.
 */
const char *parse_name_of(const ParseName *names, unsigned value);

/**
 * parse_names_allowed - the names of a table for an error message
 * @names: the table
 *
 * Return: "a, b, c"; the caller frees it with g_free().
 */
char *parse_names_allowed(const ParseName *names);

#endif
