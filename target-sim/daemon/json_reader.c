/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads JSON objects into C structures by tables of keys, and says file, line
 * and path of the key for everything that is wrong. Which keys there are does
 * not live here (config_json.c). JSON: RFC 8259, parsed by json-glib.
 */
#include "daemon/json_reader.h"

#include <inttypes.h>
#include <string.h>

#include "daemon/config.h"

struct JsonSource {
    const char *name;
    JsonParser *parser;
    GHashTable *lines;  /* JsonNode *, JsonObject * or JsonArray * -> line */
    GHashTable *seen;   /* "object/member": json-glib keeps the last of duplicates */
    GArray *open_lines; /* of the objects and arrays that are being parsed */
    GString *path;      /* of the key being read */
    char *duplicate;    /* message about the first duplicate key */
    GError *error;
};

static void *member(void *target, size_t offset)
{
    return (char *)target + offset;
}

/* For a message: a key or an array may be the whole file. */
static char *cut_short(const char *text)
{
    enum { SHOWN_MAX = 120 };

    if (g_utf8_strlen(text, -1) <= SHOWN_MAX) {
        return g_strdup(text);
    }
    g_autofree char *head = g_utf8_substring(text, 0, SHOWN_MAX);
    return g_strconcat(head, "...", NULL);
}

/* A key that may have anything in it, also what a terminal would obey. */
static char *key_of(const char *name)
{
    g_autofree char *text = cut_short(name);

    return g_strescape(text, NULL);
}

/* Where parsing is now; nodes have no line of their own in json-glib. */

static void container_start(JsonParser *parser, void *data)
{
    JsonSource *source = data;
    guint line = json_parser_get_current_line(parser);

    g_array_append_val(source->open_lines, line);
}

static void container_end(JsonParser *parser G_GNUC_UNUSED, void *container, void *data)
{
    JsonSource *source = data;
    guint last = source->open_lines->len - 1;
    guint line = g_array_index(source->open_lines, guint, last);

    g_array_set_size(source->open_lines, last);
    g_hash_table_insert(source->lines, container, GUINT_TO_POINTER(line));
}

/* An object or array has the line it starts on, anything else that of its node. */
static void *line_key(JsonNode *node)
{
    if (JSON_NODE_HOLDS_OBJECT(node)) {
        return json_node_get_object(node);
    }
    if (JSON_NODE_HOLDS_ARRAY(node)) {
        return json_node_get_array(node);
    }
    return node;
}

static void note_line(JsonSource *source, JsonNode *node)
{
    void *key = line_key(node);

    if (key == node) {
        guint line = json_parser_get_current_line(source->parser);

        g_hash_table_insert(source->lines, key, GUINT_TO_POINTER(line));
    }
}

static void object_member(JsonParser *parser G_GNUC_UNUSED, JsonObject *object, const char *name,
                          void *data)
{
    JsonSource *source = data;
    JsonNode *node = json_object_get_member(object, name);

    note_line(source, node);
    if (!g_hash_table_add(source->seen, g_strdup_printf("%p/%s", (void *)object, name)) &&
        !source->duplicate) {
        g_autofree char *shown = key_of(name);

        source->duplicate =
            g_strdup_printf("%s:%u: key \"%s\" is given twice in one object; allowed: once",
                            source->name, json_parser_get_current_line(source->parser), shown);
    }
}

static void array_element(JsonParser *parser G_GNUC_UNUSED, JsonArray *array, int index, void *data)
{
    note_line(data, json_array_get_element(array, (guint)index));
}

/*
 * Within a string, at text[i]. RFC 8259 has no plain control character there, and
 * behind an escaped NUL a C string, which json-glib gives us, has ended.
 */
static const char *find_unparsable_in_string(const char *text, size_t length, size_t i)
{
    static const char nul[] = "\\u0000";

    if ((uint8_t)text[i] < 0x20) {
        return "a control character within a string";
    }
    if (length - i >= strlen(nul) && !memcmp(text + i, nul, strlen(nul))) {
        return "\\u0000 within a string";
    }
    return NULL;
}

/* At text[i], outside a string: json-glib takes 010 for 8 and 0x10 for 16. */
static bool is_leading_zero(const char *text, size_t length, size_t i)
{
    char before = text[i - 1];

    if (text[i] != '0' || i + 1 == length || !g_ascii_isalnum(text[i + 1])) {
        return false;
    }
    /* A sign belongs to an exponent or to the number. */
    if (before == '+' || before == '-') {
        before = text[i - 2];
    }
    return !g_ascii_isalnum(before) && before != '.';
}

/*
 * What json-glib 1.6 must be kept from: it recurses as deep as the text says,
 * takes comments, quotes and numbers of other languages, and leaks the first of two
 * top-level values. Returns what is wrong, or NULL.
 */
static const char *find_unparsable(const char *text, size_t length, unsigned max_depth)
{
    static const char alphabet[] = "{}[]:,\"+-.0123456789 \t\r\n";
    bool in_string = false, ended = false;
    unsigned depth = 0;

    for (size_t i = 0; i < length; i++) {
        char c = text[i];

        if (in_string) {
            const char *wrong = find_unparsable_in_string(text, length, i);

            if (wrong) {
                return wrong;
            }
            in_string = c != '"';
            i += c == '\\';
            continue;
        }
        if (!g_ascii_isalpha(c) && (c == '\0' || !strchr(alphabet, c))) {
            return "a character that JSON has only within strings";
        }
        if (g_ascii_isspace(c)) {
            continue;
        }
        if (ended || (depth == 0 && c != '{')) {
            return "something before or behind the object";
        }
        if (depth > 0 && is_leading_zero(text, length, i)) {
            return "a number that starts with 0";
        }
        in_string = c == '"';
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        ended = depth == 0;
        if (depth > max_depth) {
            return "objects and arrays nested too deep";
        }
    }
    return ended || depth > 0 ? NULL : "nothing";
}

static bool source_parse(JsonSource *source, const char *text, size_t length, GError **error)
{
    g_autoptr(GError) cause = NULL;
    const char *message;

    if (!json_parser_load_from_data(source->parser, text, (gssize)length, &cause)) {
        /* json-glib starts with "<data>:LINE:COLUMN: ", we know the name. */
        message = cause->message;
        if (g_str_has_prefix(message, "<data>:")) {
            g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT, "%s:%s; allowed: valid JSON",
                        source->name, message + strlen("<data>:"));
        } else {
            g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT, "%s: %s; allowed: valid JSON",
                        source->name, message);
        }
        return false;
    }
    if (source->duplicate) {
        g_set_error_literal(error, CONFIG_ERROR, CONFIG_ERROR_INPUT, source->duplicate);
        return false;
    }
    return true;
}

JsonSource *json_source_new(const char *name, const char *text, size_t length,
                            unsigned max_depth, GError **error)
{
    g_autoptr(JsonSource) source = g_new0(JsonSource, 1);
    const char *unparsable;

    source->name = name;
    source->parser = json_parser_new();
    source->lines = g_hash_table_new(NULL, NULL);
    source->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    source->open_lines = g_array_new(FALSE, FALSE, sizeof(guint));
    source->path = g_string_new(NULL);
    g_signal_connect(source->parser, "object-start", G_CALLBACK(container_start), source);
    g_signal_connect(source->parser, "array-start", G_CALLBACK(container_start), source);
    g_signal_connect(source->parser, "object-end", G_CALLBACK(container_end), source);
    g_signal_connect(source->parser, "array-end", G_CALLBACK(container_end), source);
    g_signal_connect(source->parser, "object-member", G_CALLBACK(object_member), source);
    g_signal_connect(source->parser, "array-element", G_CALLBACK(array_element), source);
    unparsable = find_unparsable(text, length, max_depth);
    if (unparsable) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT,
                    "%s: the file has %s; allowed: one JSON object, nested at most %u deep", name,
                    unparsable, max_depth);
        return NULL;
    }
    if (!source_parse(source, text, length, error)) {
        return NULL;
    }
    return g_steal_pointer(&source);
}

void json_source_free(JsonSource *source)
{
    g_clear_object(&source->parser);
    g_hash_table_unref(source->lines);
    g_hash_table_unref(source->seen);
    g_array_unref(source->open_lines);
    g_string_free(source->path, TRUE);
    g_clear_error(&source->error);
    g_free(source->duplicate);
    g_free(source);
}

static unsigned line_of(JsonSource *source, JsonNode *node)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(source->lines, line_key(node)));
}

/* "FILE:LINE: PATH: " in front of every message about a node. */
static char *place_of(JsonSource *source, JsonNode *node)
{
    const char *path = source->path->len ? source->path->str : "(top level)";
    unsigned line = line_of(source, node);

    if (!line) {
        return g_strdup_printf("%s: %s", source->name, path);
    }
    return g_strdup_printf("%s:%u: %s", source->name, line, path);
}

/* The value as the user wrote it. */
static char *value_of(JsonNode *node)
{
    g_autofree char *text = json_to_string(node, FALSE);

    return cut_short(text);
}

bool json_source_fail(JsonSource *source, JsonNode *node, const char *allowed)
{
    g_autofree char *place = place_of(source, node);
    g_autofree char *value = value_of(node);

    g_set_error(&source->error, CONFIG_ERROR, CONFIG_ERROR_INPUT,
                "%s: wrong value %s; allowed: %s", place, value, allowed);
    return false;
}

char *json_source_text(JsonNode *node)
{
    if (!JSON_NODE_HOLDS_VALUE(node)) {
        return NULL;
    }
    switch (json_node_get_value_type(node)) {
    case G_TYPE_STRING:
        return g_strdup(json_node_get_string(node));
    case G_TYPE_INT64:
        return g_strdup_printf("%" PRId64, (int64_t)json_node_get_int(node));
    default:
        return NULL;
    }
}

bool json_read_uint(JsonSource *source, JsonNode *node, const JsonKey *key, void *target)
{
    g_autofree char *text = json_source_text(node);
    uint64_t number;

    if (!text || !parse_uint(text, key->min, key->max, &number)) {
        g_autofree char *allowed =
            g_strdup_printf("a number from %" PRIu64 " to %" PRIu64, key->min, key->max);
        return json_source_fail(source, node, allowed);
    }
    *(uint32_t *)member(target, key->offset) = (uint32_t)number;
    return true;
}

static bool string_valid(const char *text, const JsonKey *key)
{
    size_t length = strlen(text);

    if (length < key->min || length > key->max) {
        return false;
    }
    for (; *text; text++) {
        if (*text < 0x20 || *text > 0x7e) {
            return false;
        }
    }
    return true;
}

static char *string_dup(JsonSource *source, JsonNode *node, const JsonKey *key)
{
    g_autofree char *text = json_source_text(node);

    if (!text || !string_valid(text, key)) {
        g_autofree char *allowed =
            g_strdup_printf("a string of %" PRIu64 " to %" PRIu64 " printable ASCII characters",
                            key->min, key->max);
        json_source_fail(source, node, allowed);
        return NULL;
    }
    return g_steal_pointer(&text);
}

bool json_read_string(JsonSource *source, JsonNode *node, const JsonKey *key, void *target)
{
    char **string = member(target, key->offset);
    char *text = string_dup(source, node, key);

    if (!text) {
        return false;
    }
    g_free(*string);
    *string = text;
    return true;
}

bool json_read_name(JsonSource *source, JsonNode *node, const JsonKey *key, void *target)
{
    g_autofree char *text = json_source_text(node);
    unsigned *value = member(target, key->offset);

    if (!text || !parse_name(key->names, text, value)) {
        g_autofree char *allowed = parse_names_allowed(key->names);
        return json_source_fail(source, node, allowed);
    }
    return true;
}

static bool unknown_key(JsonSource *source, JsonNode *node, const JsonKey *keys)
{
    g_autofree char *place = place_of(source, node);
    g_autofree char *value = value_of(node);
    g_autoptr(GString) allowed = g_string_new(NULL);

    for (; keys->name; keys++) {
        g_string_append_printf(allowed, "%s%s", allowed->len ? ", " : "", keys->name);
    }
    g_set_error(&source->error, CONFIG_ERROR, CONFIG_ERROR_INPUT,
                "%s: unknown key (its value is %s); allowed keys here: %s", place, value,
                allowed->str);
    return false;
}

/* One member: find its key in the table and read it with the path extended. */
static bool read_member(JsonSource *source, const char *name, JsonNode *node,
                        const JsonKey *keys, void *target)
{
    gsize length = source->path->len;
    const JsonKey *key = keys;
    g_autofree char *shown = key_of(name);

    g_string_append_printf(source->path, "%s%s", length ? "." : "", shown);
    while (key->name && strcmp(key->name, name)) {
        key++;
    }
    if (!key->name) {
        return unknown_key(source, node, keys);
    }
    /* After an error the path stays: the message is made from it. */
    if (!key->read(source, node, key, target)) {
        return false;
    }
    g_string_truncate(source->path, length);
    return true;
}

static bool check_required(JsonSource *source, JsonNode *node, const JsonKey *keys)
{
    JsonObject *object = json_node_get_object(node);

    for (; keys->name; keys++) {
        if (keys->required && !json_object_has_member(object, keys->name)) {
            g_autofree char *place = place_of(source, node);

            g_set_error(&source->error, CONFIG_ERROR, CONFIG_ERROR_INPUT,
                        "%s: key \"%s\" is missing", place, keys->name);
            return false;
        }
    }
    return true;
}

static bool read_keys(JsonSource *source, JsonNode *node, const JsonKey *keys, void *target)
{
    if (!JSON_NODE_HOLDS_OBJECT(node)) {
        return json_source_fail(source, node, "an object");
    }
    g_autoptr(GList) names = json_object_get_members(json_node_get_object(node));

    for (GList *name = names; name; name = name->next) {
        JsonNode *value = json_object_get_member(json_node_get_object(node), name->data);

        if (!read_member(source, name->data, value, keys, target)) {
            return false;
        }
    }
    return check_required(source, node, keys);
}

bool json_read_object(JsonSource *source, JsonNode *node, const JsonKey *key, void *target)
{
    return read_keys(source, node, key->keys, target);
}

static bool read_element(JsonSource *source, JsonNode *node, const JsonKey *key, GPtrArray *list)
{
    if (!key->element) {
        char *text = string_dup(source, node, key);

        if (!text) {
            return false;
        }
        g_ptr_array_add(list, text);
        return true;
    }
    void *element = key->element();

    *(unsigned *)member(element, key->line) = line_of(source, node);
    g_ptr_array_add(list, element);
    return read_keys(source, node, key->keys, element);
}

bool json_read_list(JsonSource *source, JsonNode *node, const JsonKey *key, void *target)
{
    GPtrArray *list = *(GPtrArray **)member(target, key->offset);
    gsize length = source->path->len;
    JsonArray *array;

    if (!JSON_NODE_HOLDS_ARRAY(node)) {
        return json_source_fail(source, node, "an array");
    }
    array = json_node_get_array(node);
    for (guint i = 0; i < json_array_get_length(array); i++) {
        g_string_append_printf(source->path, "[%u]", i);
        if (!read_element(source, json_array_get_element(array, i), key, list)) {
            return false;
        }
        g_string_truncate(source->path, length);
    }
    return true;
}

bool json_source_read(JsonSource *source, const JsonKey *keys, void *target, GError **error)
{
    JsonNode *root = json_parser_get_root(source->parser);

    if (!read_keys(source, root, keys, target)) {
        g_propagate_error(error, g_steal_pointer(&source->error));
        return false;
    }
    return true;
}
