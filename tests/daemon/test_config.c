/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration file: a file as nvmetcli saves it, what is derived from it,
 * and a table of files that are wrong in one place each, with their messages.
 * Not here: opening and serving (test_cli.py). The keys are those of nvmet.
 */
#include <glib.h>
#include <string.h>

#include "daemon/config.h"

/* Every key that nvmetcli writes on Linux 6.12, and ours. */
static const char complete[] =
    "{\n"
    "  \"hosts\": [{\"nqn\": \"nqn.2014-08.org.nvmexpress:uuid:host1\"}],"
    "  \"faults\": [{\"pdu\": \"r2t\", \"opcode\": 1, \"action\": \"drop\"}],\n"
    "  \"ports\": [\n"
    "    {\n"
    "      \"addr\": {\"adrfam\": \"ipv6\", \"traddr\": \"::1\", \"treq\": \"not specified\",\n"
    "               \"trsvcid\": \"4420\", \"trtype\": \"tcp\", \"tsas\": \"none\"},\n"
    "      \"ana_groups\": [{\"ana\": {\"state\": \"optimized\"}, \"grpid\": 1},\n"
    "                     {\"ana\": {\"state\": \"inaccessible\"}, \"grpid\": \"7\"}],\n"
    "      \"lockstep\": {\"advertise\": \"fec0::2\", \"max_r2t\": 2},\n"
    "      \"param\": {\"inline_data_size\": \"4096\", \"max_queue_size\": 64,\n"
    "                \"pi_enable\": \"0\"},\n"
    "      \"portid\": 3,\n"
    "      \"referrals\": [{\"addr\": {\"adrfam\": \"ipv4\", \"portid\": \"9\",\n"
    "          \"traddr\": \"192.0.2.1\", \"treq\": \"not specified\", \"trsvcid\": \"8009\",\n"
    "          \"trtype\": \"tcp\"}, \"enable\": 1, \"name\": \"elsewhere\"}],\n"
    "      \"subsystems\": [\"nqn.2026-01.org.example:a\"]\n"
    "    }\n"
    "  ],\n"
    "  \"subsystems\": [\n"
    "    {\n"
    "      \"allowed_hosts\": [\"nqn.2014-08.org.nvmexpress:uuid:host1\"],\n"
    "      \"attr\": {\"allow_any_host\": \"0\", \"cntlid_max\": \"99\", \"cntlid_min\": \"10\",\n"
    "               \"firmware\": \"6.12\", \"ieee_oui\": \"0x00a0b0\", \"model\": \"Linux\",\n"
    "               \"pi_enable\": \"0\", \"qid_max\": \"4\", \"serial\": \"d93e9e0a4e9c\",\n"
    "               \"version\": \"1.3\"},\n"
    "      \"namespaces\": [\n"
    "        {\"ana\": {\"grpid\": \"7\"}, \"ana_grpid\": 7,\n"
    "         \"device\": {\"nguid\": \"ef90689c-6c46-d44c-89c1-4067801309a8\",\n"
    "                    \"path\": \"/dev/vdb\",\n"
    "                    \"uuid\": \"00010203-0405-0607-0809-0a0b0c0d0e0f\"},\n"
    "         \"enable\": 1, \"nsid\": 5, \"resv\": {\"enable\": \"1\"}},\n"
    "        {\"device\": {\"path\": \"ram:1M?block_size=4096\"}, \"enable\": 0, \"nsid\": \"6\",\n"
    "         \"lockstep\": {\"media\": \"p3700,read_ns=1\"}}\n"
    "      ],\n"
    "      \"nqn\": \"nqn.2026-01.org.example:a\"\n"
    "    }\n"
    "  ]\n"
    "}\n";

static Config *parse_text(const char *text, GError **error)
{
    Config *config = config_parse("file.json", text, strlen(text), error);

    if (config && !config_finish(config, error)) {
        g_clear_pointer(&config, config_free);
    }
    return config;
}

static void test_complete_file(void)
{
    static const uint8_t nguid[] = {0xef, 0x90, 0x68, 0x9c, 0x6c, 0x46, 0xd4, 0x4c,
                                    0x89, 0xc1, 0x40, 0x67, 0x80, 0x13, 0x09, 0xa8};
    static const uint8_t uuid[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    g_autoptr(GError) error = NULL;
    g_autoptr(Config) config = parse_text(complete, &error);

    g_assert_no_error(error);
    const ConfigPort *port = config->ports->pdata[0];
    g_assert_cmpuint(port->portid, ==, 3);
    g_assert_cmpuint(port->adrfam, ==, CONFIG_ADRFAM_IPV6);
    g_assert_cmpstr(port->traddr, ==, "::1");
    g_assert_cmpuint(port->trsvcid, ==, 4420);
    g_assert_cmpstr(port->advertise, ==, "fec0::2");
    g_assert_cmpuint(port->inline_data_size, ==, 4096);
    g_assert_cmpuint(port->max_queue_size, ==, 64);
    g_assert_cmpuint(port->max_r2t, ==, 2);
    g_assert_cmpuint(port->r2t_size, ==, 262144);
    g_assert_cmpuint(port->maxh2cdata, ==, 131072);
    g_assert_cmpuint(port->cpda, ==, 0);
    /* Keys and values as they stand in the file. */
    const ConfigFault *fault = config->faults->pdata[0];
    static const char *const rule[] = {"pdu", "r2t", "opcode", "1", "action", "drop"};
    g_assert_cmpuint(fault->line, ==, 2);
    g_assert_cmpuint(fault->values->len, ==, G_N_ELEMENTS(rule));
    for (guint i = 0; i < G_N_ELEMENTS(rule); i++) {
        g_assert_cmpstr(fault->values->pdata[i], ==, rule[i]);
    }
    const ConfigAnaGroup *group = port->ana_groups->pdata[1];
    g_assert_cmpuint(group->grpid, ==, 7);
    g_assert_cmpuint(group->state, ==, 3); /* log page 0Ch: 3h is inaccessible */
    const ConfigReferral *referral = port->referrals->pdata[0];
    g_assert_cmpstr(referral->traddr, ==, "192.0.2.1");
    g_assert_cmpuint(referral->portid, ==, 9);

    const ConfigSubsystem *subsystem = config->subsystems->pdata[0];
    g_assert_cmpuint(subsystem->cntlid_min, ==, 10);
    g_assert_cmpuint(subsystem->cntlid_max, ==, 99);
    g_assert_cmpuint(subsystem->ieee_oui, ==, 0xa0b0);
    g_assert_cmpuint(subsystem->qid_max, ==, 4);
    g_assert_cmphex(subsystem->version, ==, 0x00010300);
    g_assert_cmpstr(subsystem->allowed_hosts->pdata[0], ==,
                    "nqn.2014-08.org.nvmexpress:uuid:host1");
    const ConfigNamespace *ns = subsystem->namespaces->pdata[0];
    g_assert_cmpuint(ns->nsid, ==, 5);
    g_assert_cmpuint(ns->ana_grpid, ==, 7);
    g_assert_cmpmem(ns->nguid, 16, nguid, 16);
    g_assert_cmpmem(ns->uuid, 16, uuid, 16);
    g_assert_cmpuint(ns->device.backend, ==, CONFIG_BACKEND_FILE);
    g_assert_cmpstr(ns->device.path, ==, "/dev/vdb");
    ns = subsystem->namespaces->pdata[1];
    g_assert_cmpuint(ns->enable, ==, 0);
    g_assert_cmpuint(ns->nsid, ==, 6);
    g_assert_cmpuint(ns->device.size, ==, 1048576);
    g_assert_cmpuint(ns->device.block_size, ==, 4096);
    g_assert_cmpuint(ns->media.channels, ==, 18);
    g_assert_cmpuint(ns->media.read_ns, ==, 1);
}

/* What a file may leave out gets nvmet's defaults, and names of its own. */
static void test_smallest_file(void)
{
    static const char text[] =
        "{\"ports\": [{\"addr\": {\"adrfam\": \"ipv4\", \"traddr\": \"127.0.0.1\","
        " \"trsvcid\": 0, \"trtype\": \"tcp\"}, \"portid\": 1, \"subsystems\": [\"testnqn\"]}],"
        " \"subsystems\": [{\"nqn\": \"testnqn\", \"namespaces\": [{\"nsid\": 1,"
        " \"device\": {\"path\": \"null:1G\"}}]}]}";
    g_autoptr(GError) error = NULL;
    g_autoptr(Config) config = parse_text(text, &error);
    g_autofree char *uuid = NULL;

    g_assert_no_error(error);
    const ConfigPort *port = config->ports->pdata[0];
    g_assert_cmpuint(port->inline_data_size, ==, 16384);
    g_assert_cmpuint(port->max_queue_size, ==, 128);
    const ConfigSubsystem *subsystem = config->subsystems->pdata[0];
    g_assert_cmpuint(subsystem->allow_any_host, ==, 0);
    g_assert_cmpuint(subsystem->cntlid_min, ==, 1);
    g_assert_cmpuint(subsystem->cntlid_max, ==, 65519);
    g_assert_cmpuint(subsystem->qid_max, ==, 128);
    g_assert_cmpuint(strlen(subsystem->serial), ==, 20);
    const ConfigNamespace *ns = subsystem->namespaces->pdata[0];
    g_assert_cmpuint(ns->ana_grpid, ==, 1);
    g_assert_cmpuint(ns->enable, ==, 1);
    g_assert_cmpuint(ns->device.block_size, ==, 512);
    g_assert_true(media_config_is_null(&ns->media));
    /* Python: uuid.uuid5(uuid.NAMESPACE_URL, "testnqn/1") */
    uuid = config_format_uuid(ns->uuid);
    g_assert_cmpstr(uuid, ==, "b7cb5f25-504b-5aa0-9d22-5366e90c65e6");
}

static const unsigned ana_states[] = {0x1, 0x3};

static void test_generated(void)
{
    ConfigGenerator generator = {
        .subsystems = 3, .paths = 2, .namespaces = 2,
        .device = {CONFIG_BACKEND_RAM, NULL, 1 << 20, 512},
        .inline_data_size = 8192, .max_queue_size = 32, .qid_max = 2,
        .ana = ana_states,
    };
    static const ConfigListen listen = {CONFIG_ADRFAM_IPV4, "127.0.0.1", true, 4420};
    g_autoptr(Config) config = config_generate(&generator);
    g_autoptr(GError) error = NULL;

    g_assert_true(config_listen(config, &listen, &error));
    g_assert_true(config_finish(config, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(config->subsystems->len, ==, 3);
    g_assert_cmpuint(config->ports->len, ==, 2);
    const ConfigPort *port = config->ports->pdata[1];
    g_assert_cmpuint(port->portid, ==, 2);
    g_assert_cmpuint(port->trsvcid, ==, 4421);
    g_assert_cmpuint(port->subsystems->len, ==, 3);
    g_assert_cmpuint(((ConfigAnaGroup *)port->ana_groups->pdata[0])->state, ==, 0x3);
    const ConfigSubsystem *subsystem = config->subsystems->pdata[2];
    g_assert_cmpstr(subsystem->nqn, ==, "nqn.2026-01.org.lockstep:subsystem3");
    g_assert_cmpstr(subsystem->serial, ==, "LOCKSTEP0003");
    g_assert_cmpuint(subsystem->namespaces->len, ==, 2);
    g_assert_cmpuint(subsystem->allow_any_host, ==, 1);
}

static void test_listen_elsewhere(void)
{
    ConfigListen listen = {CONFIG_ADRFAM_IPV4, "192.0.2.7", false, 0};
    g_autoptr(GError) error = NULL;
    g_autoptr(Config) config = parse_text(complete, &error);
    const ConfigPort *port = config->ports->pdata[0];

    g_assert_true(config_listen(config, &listen, &error));
    g_assert_cmpuint(port->adrfam, ==, CONFIG_ADRFAM_IPV4);
    g_assert_cmpstr(port->traddr, ==, "192.0.2.7");
    g_assert_cmpuint(port->trsvcid, ==, 4420); /* what the file says stays */
    listen.has_port = true;
    g_assert_true(config_listen(config, &listen, &error));
    g_assert_cmpuint(port->trsvcid, ==, 0);
    listen.trsvcid = 65535;
    g_assert_true(config_listen(config, &listen, &error));
    g_assert_cmpuint(port->trsvcid, ==, 65535);
    g_ptr_array_add(config->ports, config_port_new());
    g_assert_false(config_listen(config, &listen, &error));
    g_assert_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT);
}

static void test_advertise_all_ports_of_the_family(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Config) config = parse_text(complete, &error);
    ConfigPort *port = config_port_new();

    port->traddr = g_strdup("127.0.0.1");
    g_ptr_array_add(config->ports, port);
    g_assert_true(config_advertise(config, "10.0.2.2", &error));
    g_assert_no_error(error);
    g_assert_cmpstr(port->advertise, ==, "10.0.2.2");
    g_assert_true(config_advertise(config, "fec0::7", &error));
    port = config->ports->pdata[0];
    g_assert_cmpstr(port->advertise, ==, "fec0::2"); /* what the file says stays */
    g_ptr_array_set_size(config->ports, 1);
    g_assert_false(config_advertise(config, "10.0.2.2", &error));
    g_assert_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT);
}

/* One place of the complete file replaced by something wrong, and the message. */
static const struct {
    const char *name;
    const char *replace;
    const char *with;
    const char *message;
} wrong[] = {
    {"unknown-key", "\"path\": \"/dev/vdb\"", "\"path\": \"/dev/vdb\", \"sizee\": \"256M\"",
     "file.json:29: subsystems[0].namespaces[0].device.sizee: unknown key (its value is "
     "\"256M\"); allowed keys here: eui64, nguid, path, uuid"},
    {"unknown-key-at-top", "\"hosts\": [", "\"host\": [",
     "file.json:2: host: unknown key (its value is "
     "[{\"nqn\":\"nqn.2014-08.org.nvmexpress:uuid:host1\"}]); allowed keys here: faults, hosts, "
     "ports, subsystems"},
    {"missing-key", "\"portid\": 3,", "",
     "file.json:4: ports[0]: key \"portid\" is missing"},
    {"key-twice", "\"portid\": 3,", "\"portid\": 3, \"portid\": 4,",
     "file.json:12: key \"portid\" is given twice in one object; allowed: once"},
    {"number-out-of-range", "\"portid\": \"9\"", "\"portid\": \"65536\"",
     "file.json:13: ports[0].referrals[0].addr.portid: wrong value \"65536\"; allowed: a number from "
     "0 to 65535"},
    {"queue-size-out-of-range", "\"max_queue_size\": 64", "\"max_queue_size\": 1025",
     "file.json:10: ports[0].param.max_queue_size: wrong value 1025; allowed: 0 or a number from 16 "
     "to 1024"},
    {"queue-size-too-small", "\"max_queue_size\": 64", "\"max_queue_size\": 15",
     "file.json:10: ports[0].param.max_queue_size: wrong value 15; allowed: 0 or a number from 16 "
     "to 1024"},
    {"cpda-out-of-range", "\"max_r2t\": 2", "\"cpda\": 32",
     "file.json:9: ports[0].lockstep.cpda: wrong value 32; allowed: a number from 0 to 31"},
    {"number-as-string-out-of-range", "\"nsid\": \"6\"", "\"nsid\": \"0\"",
     "file.json:32: subsystems[0].namespaces[1].nsid: wrong value \"0\"; allowed: a number from 1 "
     "to 1024"},
    {"number-is-a-list", "\"portid\": 3,", "\"portid\": [3],",
     "file.json:12: ports[0].portid: wrong value [3]; allowed: a number from 0 to 65535"},
    {"number-is-negative", "\"portid\": 3,", "\"portid\": -3,",
     "file.json:12: ports[0].portid: wrong value -3; allowed: a number from 0 to 65535"},
    {"number-is-a-fraction", "\"portid\": 3,", "\"portid\": 3.0,",
     "file.json:12: ports[0].portid: wrong value 3.0; allowed: a number from 0 to 65535"},
    {"inline-data-not-a-multiple", "\"inline_data_size\": \"4096\"", "\"inline_data_size\": 4097",
     "file.json:4: ports[0].param.inline_data_size: wrong value 4097; allowed: a multiple of 16"},
    {"string-is-null", "\"model\": \"Linux\"", "\"model\": null",
     "file.json:23: subsystems[0].attr.model: wrong value null; allowed: a string of 1 to 40 "
     "printable ASCII characters"},
    {"string-too-long", "\"serial\": \"d93e9e0a4e9c\"", "\"serial\": \"123456789012345678901\"",
     "file.json:24: subsystems[0].attr.serial: wrong value \"123456789012345678901\"; allowed: a "
     "string of 1 to 20 printable ASCII characters"},
    {"list-is-an-object", "\"allowed_hosts\": [\"nqn.2014-08.org.nvmexpress:uuid:host1\"]",
     "\"allowed_hosts\": {}",
     "file.json:21: subsystems[0].allowed_hosts: wrong value {}; allowed: an array"},
    {"object-is-a-string", "\"lockstep\": {\"advertise\": \"fec0::2\", \"max_r2t\": 2}", "\"lockstep\": \"x\"",
     "file.json:9: ports[0].lockstep: wrong value \"x\"; allowed: an object"},
    {"trtype", "\"trsvcid\": \"4420\", \"trtype\": \"tcp\"",
     "\"trsvcid\": \"4420\", \"trtype\": \"rdma\"",
     "file.json:6: ports[0].addr.trtype: wrong value \"rdma\"; allowed: tcp"},
    {"tls", "\"tsas\": \"none\"", "\"tsas\": \"tls1.3\"",
     "file.json:6: ports[0].addr.tsas: wrong value \"tls1.3\"; allowed: none"},
    {"ana-state", "\"state\": \"inaccessible\"", "\"state\": \"gone\"",
     "file.json:8: ports[0].ana_groups[1].ana.state: wrong value \"gone\"; allowed: optimized, "
     "non-optimized, inaccessible, persistent-loss, change"},
    {"ana-group-twice", "\"grpid\": \"7\"}],", "\"grpid\": 1}],",
     "file.json:8: ports[0].ana_groups[1].grpid: group 1 is given twice; allowed: once per port"},
    {"protection-information", "\"pi_enable\": \"0\", \"qid_max\"",
     "\"pi_enable\": \"1\", \"qid_max\"",
     "file.json:24: subsystems[0].attr.pi_enable: wrong value \"1\"; allowed: 0, as target-sim has "
     "no such function"},
    {"version", "\"version\": \"1.3\"", "\"version\": \"1.2\"",
     "file.json:25: subsystems[0].attr.version: wrong value \"1.2\"; allowed: \"1.3\", \"1.4\", "
     "\"2.0\" or \"2.1\""},
    {"uuid", "\"uuid\": \"00010203-", "\"uuid\": \"0001020-",
     "file.json:30: subsystems[0].namespaces[0].device.uuid: wrong value "
     "\"0001020-0405-0607-0809-0a0b0c0d0e0f\"; allowed: 32 hexadecimal digits with or without "
     "dashes"},
    {"device-without-size", "ram:1M?block_size=4096", "ram:",
     "file.json:32: subsystems[0].namespaces[1].device.path: wrong value \"ram:\"; allowed: an "
     "absolute path, ram:SIZE, null:SIZE or file:/PATH, the last three with "
     "?size=SIZE&block_size=512 or 4096; SIZE over 0, with suffix K, M, G or T"},
    {"device-not-a-multiple", "ram:1M?block_size=4096", "ram:5000",
     "file.json:32: subsystems[0].namespaces[1].device.path: size 5000 is wrong; allowed: a "
     "multiple of the block size 512"},
    {"traddr", "\"traddr\": \"::1\"", "\"traddr\": \"127.0.0.1\"",
     "file.json:4: ports[0].addr.traddr: wrong value \"127.0.0.1\"; allowed: a numeric IPv6 "
     "address"},
    {"advertise", "fec0::2", "10.0.2.2",
     "file.json:4: ports[0].lockstep.advertise: wrong value \"10.0.2.2\"; allowed: a numeric IPv6 "
     "address"},
    {"port-of-unknown-subsystem", "\"subsystems\": [\"nqn.2026-01.org.example:a\"]",
     "\"subsystems\": [\"b\"]",
     "file.json:4: ports[0].subsystems[0]: wrong value \"b\"; allowed: the nqn of one of the "
     "subsystems"},
    {"unknown-host", "\"allowed_hosts\": [\"nqn.2014-08.org.nvmexpress:uuid:host1\"]",
     "\"allowed_hosts\": [\"h\"]",
     "file.json:20: subsystems[0].allowed_hosts[0]: wrong value \"h\"; allowed: the nqn of one of "
     "the hosts"},
    {"media-preset-unknown", "p3700,", "disk,",
     "file.json:33: subsystems[0].namespaces[1].lockstep.media: wrong value \"disk,read_ns=1\"; "
     "allowed: PRESET[,key=value...], PRESET one of null, ram, p3700, tlc, optane"},
    {"media-out-of-range", "read_ns=1", "jitter_pm=1001",
     "file.json:33: subsystems[0].namespaces[1].lockstep.media: wrong value "
     "\"p3700,jitter_pm=1001\"; allowed: jitter_pm from 0 to 1000"},
    {"media-not-a-string", "\"p3700,read_ns=1\"", "[]",
     "file.json:33: subsystems[0].namespaces[1].lockstep.media: wrong value []; allowed: a string"},
    {"nsid-twice", "\"nsid\": \"6\"", "\"nsid\": 5",
     "file.json:32: subsystems[0].namespaces[1].nsid: namespace 5 is given twice; allowed: once "
     "per subsystem"},
    {"nqn-twice", "\"subsystems\": [\n    {",
     "\"subsystems\": [\n    {\"nqn\": \"nqn.2026-01.org.example:a\"}, {",
     "file.json:20: subsystems[1].nqn: \"nqn.2026-01.org.example:a\" is given twice; allowed: "
     "once"},
    {"nqn-of-discovery", "\"nqn\": \"nqn.2026-01.org.example:a\"",
     "\"nqn\": \"nqn.2014-08.org.nvmexpress.discovery\"",
     "file.json:20: subsystems[0].nqn: wrong value \"nqn.2014-08.org.nvmexpress.discovery\"; "
     "allowed: any other, as each port serves the discovery subsystem anyway"},
    {"cntlid-range", "\"cntlid_min\": \"10\"", "\"cntlid_min\": 100",
     "file.json:20: subsystems[0].attr.cntlid_min: wrong value 100; allowed: 1 to cntlid_max, "
     "which is 99"},
};

static void test_wrong_in_one_place(gconstpointer data)
{
    const char *replace = wrong[GPOINTER_TO_UINT(data)].replace;
    const char *found = strstr(complete, replace);
    g_autoptr(GError) error = NULL;
    g_autoptr(GString) text = g_string_new_len(complete, found - complete);

    g_assert_nonnull(found);
    g_string_append(text, wrong[GPOINTER_TO_UINT(data)].with);
    g_string_append(text, found + strlen(replace));
    g_assert_null(parse_text(text->str, &error));
    g_assert_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT);
    g_assert_cmpstr(error->message, ==, wrong[GPOINTER_TO_UINT(data)].message);
}

#define ONE_OBJECT "allowed: one JSON object, nested at most 16 deep"

static void assert_refused(const char *text, const char *message)
{
    g_autoptr(GError) error = NULL;

    g_assert_null(parse_text(text, &error));
    g_assert_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT);
    g_assert_cmpstr(error->message, ==, message);
}

static void test_not_a_configuration(void)
{
    g_autofree char *deep = g_strnfill(100000, '[');
    g_autofree char *k_100000 = g_strnfill(100000, 'k');
    g_autofree char *k_120 = g_strnfill(120, 'k');
    g_autofree char *long_key = g_strconcat("{\"", k_100000, "\": 1}", NULL);
    g_autofree char *long_key_message =
        g_strconcat("file.json:1: ", k_120, "...: unknown key (its value is 1); allowed keys here: "
                    "faults, hosts, ports, subsystems", NULL);

    assert_refused("", "file.json: the file has nothing; " ONE_OBJECT);
    assert_refused(" \n", "file.json: the file has nothing; " ONE_OBJECT);
    assert_refused("[]", "file.json: the file has something before or behind the object; "
                   ONE_OBJECT);
    assert_refused("{}{}", "file.json: the file has something before or behind the object; "
                   ONE_OBJECT);
    /* A C string would end there, and the rest of the value not count. */
    assert_refused("{\"hosts\": [{\"nqn\": \"a\\u0000b\"}]}", "file.json: the file has \\u0000 "
                   "within a string; " ONE_OBJECT);
    assert_refused("{\"a\\\\u0000\": 1}", "file.json:1: a\\\\u0000: unknown key (its value is 1); "
                   "allowed keys here: faults, hosts, ports, subsystems");
    /* What a terminal would obey, and what would fill it. */
    assert_refused("{\"a\\u001b[31m\\nb\": 1}", "file.json:1: a\\033[31m\\nb: unknown key "
                   "(its value is 1); allowed keys here: faults, hosts, ports, subsystems");
    assert_refused(long_key, long_key_message);
    /* RFC 8259, 6: no hexadecimal, no leading zeros, which others read as octal. */
    assert_refused("{\"a\": 0x10}", "file.json: the file has a number that starts with 0; "
                   ONE_OBJECT);
    assert_refused("{\"a\": [1,-010]}", "file.json: the file has a number that starts with 0; "
                   ONE_OBJECT);
    assert_refused("{\"a\": [0, 0.5, 100, 5e+00, 1.05]}", "file.json:1: a: unknown key (its "
                   "value is [0,0.5,100,5.0,1.05]); allowed keys here: faults, hosts, ports, subsystems");
    /* RFC 8259, 7: control characters within strings must be escaped. */
    assert_refused("{\"a\tb\": 1}", "file.json: the file has a control character within a string; "
                   ONE_OBJECT);
    assert_refused("{/*\"*/}", "file.json: the file has a character that JSON has only within "
                   "strings; " ONE_OBJECT);
    assert_refused("{}", "file.json:1: (top level): key \"ports\" is missing");
    deep[0] = '{';
    assert_refused(deep, "file.json: the file has objects and arrays nested too deep; " ONE_OBJECT);
    assert_refused("{\"ports\": [], \"subsystems\": []}",
                   "file.json: ports: 0 ports; allowed: 1 to 1024");
}

static void test_broken_json_names_the_line(void)
{
    g_autoptr(GError) error = NULL;

    g_assert_null(parse_text("{\n\"ports\": [,]\n}", &error));
    g_assert_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT);
    g_assert_true(g_str_has_prefix(error->message, "file.json:2:"));
    g_assert_true(g_str_has_suffix(error->message, "; allowed: valid JSON"));
}

static void test_not_utf8(void)
{
    g_autoptr(GError) error = NULL;

    g_assert_null(parse_text("{\"ports\xff\": []}", &error));
    g_assert_error(error, CONFIG_ERROR, CONFIG_ERROR_INPUT);
}

static void test_device_forms(void)
{
    static const struct {
        const char *text;
        ConfigDevice device;
    } forms[] = {
        {"ram:256M", {CONFIG_BACKEND_RAM, NULL, 268435456, 512}},
        {"ram:1G?block_size=4096", {CONFIG_BACKEND_RAM, NULL, 1073741824, 4096}},
        {"null:1T", {CONFIG_BACKEND_NULL, NULL, 1099511627776, 512}},
        {"file:/a/b?size=1M", {CONFIG_BACKEND_FILE, (char *)"/a/b", 1048576, 512}},
        {"file:/a?size=1M&block_size=4096", {CONFIG_BACKEND_FILE, (char *)"/a", 1048576, 4096}},
        {"file:/a", {CONFIG_BACKEND_FILE, (char *)"/a", 0, 0}},
        {"/dev/sdb", {CONFIG_BACKEND_FILE, (char *)"/dev/sdb", 0, 0}},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(forms); i++) {
        ConfigDevice device;
        const char *why;

        g_assert_true(config_device_parse(forms[i].text, &device, &why));
        g_assert_cmpuint(device.backend, ==, forms[i].device.backend);
        g_assert_cmpstr(device.path, ==, forms[i].device.path);
        g_assert_cmpuint(device.size, ==, forms[i].device.size);
        g_assert_cmpuint(device.block_size, ==, forms[i].device.block_size);
        config_device_clear(&device);
    }
}

static void test_device_refused(void)
{
    static const char *const texts[] = {
        "", "ram", "ram:", "ram:0", "ram:x", "ram:1M?", "ram:1M?size=1M", "ram:1M?block_size=1024",
        "ram:1M?colour=red", "null:", "file:", "file:relative", "file:/a?size=0", "file:/a?size=",
        "relative", "disk:/a",
    };

    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        ConfigDevice device;
        const char *why;

        g_assert_false(config_device_parse(texts[i], &device, &why));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/config/complete-file", test_complete_file);
    g_test_add_func("/config/smallest-file", test_smallest_file);
    g_test_add_func("/config/generated", test_generated);
    g_test_add_func("/config/listen-elsewhere", test_listen_elsewhere);
    g_test_add_func("/config/advertise-all-ports-of-the-family",
                    test_advertise_all_ports_of_the_family);
    g_test_add_func("/config/not-a-configuration", test_not_a_configuration);
    g_test_add_func("/config/broken-json-names-the-line", test_broken_json_names_the_line);
    g_test_add_func("/config/not-utf8", test_not_utf8);
    g_test_add_func("/config/device/forms", test_device_forms);
    g_test_add_func("/config/device/refused", test_device_refused);
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autofree char *path = g_strdup_printf("/config/wrong/%s", wrong[i].name);

        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_wrong_in_one_place);
    }
    return g_test_run();
}
