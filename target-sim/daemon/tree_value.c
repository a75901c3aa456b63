/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values of the attributes that the front keeps: reading them, and the words for what is not
 * allowed. Not here: the attributes. No standard.
 */
#include "daemon/tree_internal.h"

#include <string.h>

bool tree_refuse(GError **error, const char *key, const char *value, const char *allowed)
{
    g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT, "%s: '%s' is not allowed: %s", key, value,
                allowed);
    return false;
}

bool tree_parse_bool(const char *key, const char *value, bool *result, GError **error)
{
    if (strcmp(value, "0") && strcmp(value, "1")) {
        return tree_refuse(error, key, value, "0 or 1");
    }
    *result = value[0] == '1';
    return true;
}

bool tree_parse_id(const char *key, const char *value, uint32_t min, uint32_t max,
                   uint32_t *result, GError **error)
{
    uint64_t number;

    if (!parse_uint(value, min, max, &number) || (value[0] == '0' && value[1])) {
        g_autofree char *allowed = g_strdup_printf("a decimal number from %u to %u", min, max);

        return tree_refuse(error, key, value, allowed);
    }
    *result = (uint32_t)number;
    return true;
}

bool tree_check_address(const char *key, const char *value, GError **error)
{
    if (!config_address_valid(CONFIG_ADRFAM_IPV4, value) &&
        !config_address_valid(CONFIG_ADRFAM_IPV6, value)) {
        return tree_refuse(error, key, value, "a numeric IPv4 or IPv6 address");
    }
    return true;
}

bool tree_check_family(unsigned adrfam, const char *traddr, GError **error)
{
    if (!config_address_valid(adrfam, traddr)) {
        return tree_refuse(error, "addr_traddr", traddr,
                           adrfam == CONFIG_ADRFAM_IPV6
                               ? "a numeric IPv6 address while addr_adrfam is ipv6"
                               : "a numeric IPv4 address while addr_adrfam is ipv4");
    }
    return true;
}

bool tree_set_name(const ParseName *names, unsigned *result, const char *key, const char *value,
                   GError **error)
{
    g_autofree char *allowed = parse_names_allowed(names);

    return parse_name(names, value, result) || tree_refuse(error, key, value, allowed);
}

void tree_replace(char **text, const char *value)
{
    g_free(*text);
    *text = g_strdup(value);
}

bool tree_in_use(const char *what, const char *by, GError **error)
{
    g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT, "still in use: %s '%s' first", what, by);
    return false;
}
