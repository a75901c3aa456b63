/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads JSON objects into C structures by tables of keys, and says file, line
 * and path of the key for everything that is wrong. Which keys there are does
 * not live here (config_json.c). JSON: RFC 8259, parsed by json-glib.
 */
#ifndef LOCKSTEP_DAEMON_JSON_READER_H
#define LOCKSTEP_DAEMON_JSON_READER_H

#include <json-glib/json-glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/parse.h"

typedef struct JsonKey JsonKey;
typedef struct JsonSource JsonSource;

/* Reads one value into the structure at @target; false with the error set. */
typedef bool JsonRead(JsonSource *source, JsonNode *node, const JsonKey *key, void *target);

/* One key of an object; a table ends with a NULL name. */
struct JsonKey {
    const char *name;
    JsonRead *read;
    size_t offset;          /* of the member in the structure */
    uint64_t min, max;      /* a number's range, a string's length in bytes */
    const ParseName *names; /* json_read_name */
    const JsonKey *keys;    /* json_read_object, json_read_list of objects */
    void *(*element)(void); /* json_read_list: makes a structure, or NULL: strings */
    size_t line;            /* offset of the "unsigned line" in an element */
    bool required;
};

/* Readers. Numbers may come as JSON strings: nvmetcli writes both. */
JsonRead json_read_uint;   /* uint32_t */
JsonRead json_read_string; /* char *, printable ASCII */
JsonRead json_read_name;   /* unsigned */
JsonRead json_read_object; /* into the same structure, by key->keys */
JsonRead json_read_list;   /* GPtrArray * of strings or structures */

/**
 * json_source_new - parse a text
 * @name: of the file, for messages
 * @text: not necessarily NUL-terminated
 * @length: bytes
 * @max_depth: of nested objects and arrays: json-glib recurses without a limit
 * @error: set on failure; domain CONFIG_ERROR
 *
 * Return: a source, freed by json_source_free(), or NULL.
 */
JsonSource *json_source_new(const char *name, const char *text, size_t length,
                            unsigned max_depth, GError **error);
void json_source_free(JsonSource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(JsonSource, json_source_free)

/**
 * json_source_read - read the whole text, an object, into a structure
 * @source: from json_source_new()
 * @keys: table of the top-level object
 * @target: the structure; what was read before an error stays in it
 * @error: set on failure; domain CONFIG_ERROR
 *
 * Return: true on success.
 */
bool json_source_read(JsonSource *source, const JsonKey *keys, void *target, GError **error);

/**
 * json_source_fail - report a value that a reader outside this file refuses
 * @node: the value
 * @allowed: what would be right
 *
 * Return: false, for the caller to return.
 */
bool json_source_fail(JsonSource *source, JsonNode *node, const char *allowed);

/**
 * json_source_text - the text of a string, or a number as text
 *
 * Return: a new string, freed by g_free(), or NULL if @node is neither.
 */
char *json_source_text(JsonNode *node);

#endif
