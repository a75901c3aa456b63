/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keys of the configuration file: what `nvmetcli save` writes, plus our own
 * under "lockstep". Not here: how tables are read (json_reader.c), checks that
 * need more than one value (config_check.c). Ranges are those of Linux' nvmet.
 */
#include "daemon/config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/json_reader.h"
#include "engine/fault.h"
#include "lockstep/nvme_tcp.h"

static bool read_uuid(JsonSource *source, JsonNode *node, const JsonKey *key, void *target)
{
    g_autofree char *text = json_source_text(node);

    if (!text || !parse_uuid(text, (uint8_t *)target + key->offset)) {
        return json_source_fail(source, node, "32 hexadecimal digits with or without dashes");
    }
    return true;
}

static bool read_eui64(JsonSource *source, JsonNode *node, const JsonKey *key, void *target)
{
    g_autofree char *text = json_source_text(node);
    char **eui64 = (char **)((char *)target + key->offset);

    if (!text || strlen(text) != 16 || strspn(text, "0123456789abcdefABCDEF") != 16) {
        return json_source_fail(source, node, "16 hexadecimal digits");
    }
    g_free(*eui64);
    *eui64 = g_steal_pointer(&text);
    return true;
}

static bool read_queue_size(JsonSource *source, JsonNode *node, const JsonKey *key, void *target)
{
    g_autofree char *text = json_source_text(node);
    uint64_t number;

    if (!text || !parse_uint(text, 0, LST_QUEUE_SIZE_MAX, &number) ||
        (number && number < LST_QUEUE_SIZE_MIN)) {
        return json_source_fail(source, node, "0 or a number from 16 to 1024");
    }
    *(uint32_t *)((char *)target + key->offset) = (uint32_t)number;
    return true;
}

static bool read_version(JsonSource *source, JsonNode *node, const JsonKey *key, void *target)
{
    static const uint32_t known[] = {0x010300, 0x010400, 0x020000, 0x020100};
    g_autofree char *text = json_source_text(node);
    uint32_t *version = (uint32_t *)((char *)target + key->offset);

    if (text && parse_version(text, version)) {
        for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
            if (*version == known[i]) {
                return true;
            }
        }
    }
    return json_source_fail(source, node, "\"1.3\", \"1.4\", \"2.0\" or \"2.1\"");
}

static bool read_device(JsonSource *source, JsonNode *node, const JsonKey *key, void *target)
{
    g_autofree char *text = json_source_text(node);
    const char *why = "a string";

    if (!text ||
        !config_device_parse(text, (ConfigDevice *)((char *)target + key->offset), &why)) {
        return json_source_fail(source, node, why);
    }
    return true;
}

static bool read_media(JsonSource *source, JsonNode *node, const JsonKey *key, void *target)
{
    g_autofree char *text = json_source_text(node);
    g_autofree char *why = NULL;

    if (!text) {
        return json_source_fail(source, node, "a string");
    }
    if (!media_config_parse(text, (struct media_config *)((char *)target + key->offset), &why)) {
        return json_source_fail(source, node, why);
    }
    return true;
}

static bool read_zoned(JsonSource *source, JsonNode *node, const JsonKey *key, void *target)
{
    g_autofree char *text = json_source_text(node);
    g_autofree char *why = NULL;

    if (!text) {
        return json_source_fail(source, node, "a string");
    }
    if (!zone_config_parse(text, (struct zone_config *)((char *)target + key->offset), &why)) {
        return json_source_fail(source, node, why);
    }
    return true;
}

/* Keys that nvmetcli writes for what we do not model: only the value "off". */
static bool read_off(JsonSource *source, JsonNode *node, const JsonKey *key G_GNUC_UNUSED,
                     void *target G_GNUC_UNUSED)
{
    g_autofree char *text = json_source_text(node);

    if (!text || strcmp(text, "0")) {
        return json_source_fail(source, node, "0, as target-sim has no such function");
    }
    return true;
}

/* The engine knows which values are right (setup.c). */
static bool read_fault_value(JsonSource *source, JsonNode *node, const JsonKey *key, void *target)
{
    ConfigFault *fault = target;
    char *text = json_source_text(node);

    if (!text) {
        return json_source_fail(source, node, "a string or a number");
    }
    g_ptr_array_add(fault->values, g_strdup(key->name));
    g_ptr_array_add(fault->values, text);
    return true;
}

static const ParseName trtypes[] = {{"tcp", 3}, {NULL, 0}};
static const ParseName sectypes[] = {{"none", 0}, {NULL, 0}};
static const ParseName referral_treqs[] = {{"not specified", 0}, {NULL, 0}};

/* For keys with a single allowed value: there is nothing to keep. */
static bool read_only_name(JsonSource *source, JsonNode *node, const JsonKey *key,
                           void *target G_GNUC_UNUSED)
{
    unsigned value;
    JsonKey at_start = *key;

    at_start.offset = 0;
    return json_read_name(source, node, &at_start, &value);
}

#define NUMBER(type, field, low, high) \
    .read = json_read_uint, .offset = offsetof(type, field), .min = (low), .max = (high)
#define STRING(type, field, length) \
    .read = json_read_string, .offset = offsetof(type, field), .min = 1, .max = (length)
#define NAME(type, field, table) \
    .read = json_read_name, .offset = offsetof(type, field), .names = (table)
#define LIST(type, field, table, part, make) \
    .read = json_read_list, .offset = offsetof(type, field), .keys = (table), \
    .element = (make), .line = offsetof(part, line)
#define STRINGS(type, field, length) \
    .read = json_read_list, .offset = offsetof(type, field), .min = 1, .max = (length)
#define OBJECT(table) .read = json_read_object, .keys = (table)
#define ONLY(table) .read = read_only_name, .names = (table)

static void *host_element(void) { return config_host_new(); }
static void *port_element(void) { return config_port_new(); }
static void *subsystem_element(void) { return config_subsystem_new(); }
static void *namespace_element(void) { return config_namespace_new(); }
static void *ana_group_element(void) { return config_ana_group_new(); }
static void *fault_element(void) { return config_fault_new(); }
static void *referral_element(void) { return config_referral_new(); }

static const JsonKey host_keys[] = {
    {"nqn", STRING(ConfigHost, nqn, CONFIG_NQN_MAX), .required = true},
    {.name = NULL},
};

static const JsonKey referral_addr_keys[] = {
    {"adrfam", NAME(ConfigReferral, adrfam, config_adrfams)},
    {"portid", NUMBER(ConfigReferral, portid, 0, UINT16_MAX)},
    {"traddr", STRING(ConfigReferral, traddr, CONFIG_TRADDR_MAX), .required = true},
    {"treq", ONLY(referral_treqs)},
    {"trsvcid", NUMBER(ConfigReferral, trsvcid, 1, UINT16_MAX)},
    {"trtype", ONLY(trtypes), .required = true},
    {"tsas", ONLY(sectypes)},
    {.name = NULL},
};

static const JsonKey referral_keys[] = {
    {"addr", OBJECT(referral_addr_keys), .required = true},
    {"enable", NUMBER(ConfigReferral, enable, 0, 1)},
    {"name", STRING(ConfigReferral, name, 255), .required = true},
    {.name = NULL},
};

static const JsonKey ana_keys[] = {
    {"state", NAME(ConfigAnaGroup, state, config_ana_states), .required = true},
    {.name = NULL},
};

static const JsonKey ana_group_keys[] = {
    {"ana", OBJECT(ana_keys), .required = true},
    {"grpid", NUMBER(ConfigAnaGroup, grpid, 1, LST_ANA_GROUPS_MAX), .required = true},
    {.name = NULL},
};

static const JsonKey port_addr_keys[] = {
    {"adrfam", NAME(ConfigPort, adrfam, config_adrfams), .required = true},
    {"traddr", STRING(ConfigPort, traddr, CONFIG_TRADDR_MAX), .required = true},
    {"treq", NAME(ConfigPort, treq, config_treqs)},
    {"trsvcid", NUMBER(ConfigPort, trsvcid, 0, UINT16_MAX), .required = true},
    {"trtype", ONLY(trtypes), .required = true},
    {"tsas", ONLY(sectypes)},
    {.name = NULL},
};

static const JsonKey port_param_keys[] = {
    {"inline_data_size", NUMBER(ConfigPort, inline_data_size, 0, LST_INLINE_MAX)},
    {"max_queue_size", .read = read_queue_size, .offset = offsetof(ConfigPort, max_queue_size)},
    {"pi_enable", .read = read_off},
    {.name = NULL},
};

static const JsonKey port_lockstep_keys[] = {
    {"advertise", STRING(ConfigPort, advertise, CONFIG_TRADDR_MAX)},
    {"cpda", NUMBER(ConfigPort, cpda, 0, NVTCP_PDA_MAX)},
    {"max_r2t", NUMBER(ConfigPort, max_r2t, 1, LST_R2TS_MAX)},
    {"maxh2cdata", NUMBER(ConfigPort, maxh2cdata, NVTCP_MAXH2CDATA_MIN, LST_TRANSFER_MAX)},
    {"r2t_size", NUMBER(ConfigPort, r2t_size, LST_R2T_SIZE_MIN, LST_TRANSFER_MAX)},
    {.name = NULL},
};

static const JsonKey port_keys[] = {
    {"addr", OBJECT(port_addr_keys), .required = true},
    {"ana_groups", LIST(ConfigPort, ana_groups, ana_group_keys, ConfigAnaGroup, ana_group_element)},
    {"lockstep", OBJECT(port_lockstep_keys)},
    {"param", OBJECT(port_param_keys)},
    {"portid", NUMBER(ConfigPort, portid, 0, UINT16_MAX), .required = true},
    {"referrals", LIST(ConfigPort, referrals, referral_keys, ConfigReferral, referral_element)},
    {"subsystems", STRINGS(ConfigPort, subsystems, CONFIG_NQN_MAX)},
    {.name = NULL},
};

static const JsonKey device_keys[] = {
    {"eui64", .read = read_eui64, .offset = offsetof(ConfigNamespace, eui64)},
    {"nguid", .read = read_uuid, .offset = offsetof(ConfigNamespace, nguid)},
    {"path", .read = read_device, .offset = offsetof(ConfigNamespace, device), .required = true},
    {"uuid", .read = read_uuid, .offset = offsetof(ConfigNamespace, uuid)},
    {.name = NULL},
};

/* nvmetcli writes the group twice: as attribute "ana.grpid" and as "ana_grpid". */
static const JsonKey namespace_ana_keys[] = {
    {"grpid", NUMBER(ConfigNamespace, ana_grpid, 1, LST_ANA_GROUPS_MAX)},
    {.name = NULL},
};

static const JsonKey resv_keys[] = {
    {"enable", NUMBER(ConfigNamespace, resv_enable, 0, 1)},
    {.name = NULL},
};

static const JsonKey namespace_lockstep_keys[] = {
    {"media", .read = read_media, .offset = offsetof(ConfigNamespace, media)},
    {"zoned", .read = read_zoned, .offset = offsetof(ConfigNamespace, zoned)},
    {.name = NULL},
};

static const JsonKey namespace_keys[] = {
    {"ana", OBJECT(namespace_ana_keys)},
    {"ana_grpid", NUMBER(ConfigNamespace, ana_grpid, 1, LST_ANA_GROUPS_MAX)},
    {"device", OBJECT(device_keys), .required = true},
    {"enable", NUMBER(ConfigNamespace, enable, 0, 1)},
    {"lockstep", OBJECT(namespace_lockstep_keys)},
    {"nsid", NUMBER(ConfigNamespace, nsid, 1, LST_NSID_MAX), .required = true},
    {"resv", OBJECT(resv_keys)},
    {.name = NULL},
};

static const JsonKey attr_keys[] = {
    {"allow_any_host", NUMBER(ConfigSubsystem, allow_any_host, 0, 1)},
    {"cntlid_max", NUMBER(ConfigSubsystem, cntlid_max, 1, CONFIG_CNTLID_MAX)},
    {"cntlid_min", NUMBER(ConfigSubsystem, cntlid_min, 1, CONFIG_CNTLID_MAX)},
    {"firmware", STRING(ConfigSubsystem, firmware, CONFIG_FIRMWARE_MAX)},
    {"ieee_oui", NUMBER(ConfigSubsystem, ieee_oui, 0, 0xffffff)},
    {"model", STRING(ConfigSubsystem, model, CONFIG_MODEL_MAX)},
    {"pi_enable", .read = read_off},
    {"qid_max", NUMBER(ConfigSubsystem, qid_max, 1, LST_QID_MAX)},
    {"serial", STRING(ConfigSubsystem, serial, CONFIG_SERIAL_MAX)},
    {"version", .read = read_version, .offset = offsetof(ConfigSubsystem, version)},
    {.name = NULL},
};

static const JsonKey subsystem_lockstep_keys[] = {
    {"controller_model", NAME(ConfigSubsystem, controller_model, config_controller_models)},
    {"max_queue_size", .read = read_queue_size,
     .offset = offsetof(ConfigSubsystem, max_queue_size)},
    {.name = NULL},
};

static const JsonKey subsystem_keys[] = {
    {"allowed_hosts", STRINGS(ConfigSubsystem, allowed_hosts, CONFIG_NQN_MAX)},
    {"attr", OBJECT(attr_keys)},
    {"lockstep", OBJECT(subsystem_lockstep_keys)},
    {"namespaces",
     LIST(ConfigSubsystem, namespaces, namespace_keys, ConfigNamespace, namespace_element)},
    {"nqn", STRING(ConfigSubsystem, nqn, CONFIG_NQN_MAX), .required = true},
    {.name = NULL},
};

static const JsonKey fault_keys[] = {
    {"name", .read = read_fault_value},
#define FAULT_KEY(id, key) {key, .read = read_fault_value},
    LST_FAULT_KEYS(FAULT_KEY)
#undef FAULT_KEY
    {"enable", .read = read_fault_value},
    {.name = NULL},
};

static const JsonKey config_keys[] = {
    {"faults", LIST(Config, faults, fault_keys, ConfigFault, fault_element)},
    {"hosts", LIST(Config, hosts, host_keys, ConfigHost, host_element)},
    {"ports", LIST(Config, ports, port_keys, ConfigPort, port_element), .required = true},
    {"subsystems",
     LIST(Config, subsystems, subsystem_keys, ConfigSubsystem, subsystem_element),
     .required = true},
    {.name = NULL},
};

Config *config_parse(const char *name, const char *text, size_t length, GError **error)
{
    g_autoptr(JsonSource) source =
        json_source_new(name, text, length, CONFIG_DEPTH_MAX, error);
    g_autoptr(Config) config = config_new();

    if (!source || !json_source_read(source, config_keys, config, error)) {
        return NULL;
    }
    config->file = g_strdup(name);
    return g_steal_pointer(&config);
}

/* At most CONFIG_FILE_MAX bytes and one more: a device may have no end. */
static char *read_file(const char *file, size_t *length, GError **error)
{
    g_autofree char *text = g_malloc(CONFIG_FILE_MAX + 1);
    FILE *stream = fopen(file, "re");

    if (stream) {
        *length = fread(text, 1, CONFIG_FILE_MAX + 1, stream);
    }
    if (!stream || ferror(stream)) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_SYSTEM, "--config: %s: %s", file,
                    g_strerror(errno));
        g_clear_pointer(&text, g_free);
    }
    if (stream) {
        fclose(stream);
    }
    return g_steal_pointer(&text);
}

Config *config_load(const char *file, GError **error)
{
    size_t length = 0;
    g_autofree char *text = read_file(file, &length, error);

    if (!text) {
        return NULL;
    }
    if (length > CONFIG_FILE_MAX) {
        g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT,
                    "%s: file has over %d bytes; allowed: at most %d", file, CONFIG_FILE_MAX,
                    CONFIG_FILE_MAX);
        return NULL;
    }
    return config_parse(file, text, length, error);
}
