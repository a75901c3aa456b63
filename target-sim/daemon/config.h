/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the daemon serves: the model that the JSON file, or the generator
 * behind the command line, fills in. Not here: sockets, files, the engine.
 * Names and ranges follow nvmet's configfs as nvmetcli saves it.
 */
#ifndef LOCKSTEP_DAEMON_CONFIG_H
#define LOCKSTEP_DAEMON_CONFIG_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/parse.h"
#include "engine/limits.h"
#include "media/media.h"
#include "zone/zone.h"

enum ConfigLimits {
    CONFIG_FILE_MAX = 16 << 20,      /* bytes of a configuration file */
    CONFIG_DEPTH_MAX = 16,           /* nesting of it; a real file has 6 */
    CONFIG_NQN_MAX = 223,            /* bytes; NVMe base, NVMe Qualified Names */
    CONFIG_SERIAL_MAX = 20,          /* bytes; Identify Controller SN */
    CONFIG_MODEL_MAX = 40,           /* bytes; Identify Controller MN */
    CONFIG_FIRMWARE_MAX = 8,         /* bytes; Identify Controller FR */
    CONFIG_TRADDR_MAX = 255,         /* bytes; discovery log entry TRADDR less the NUL */
    CONFIG_CNTLID_MAX = 0xffef,      /* FFF0h and above are reserved */
    CONFIG_INLINE_UNIT = 16,         /* IOCCSZ counts 16-byte units */
    CONFIG_BLOCK_SIZE_MIN = 512,
    CONFIG_BLOCK_SIZE_MAX = 4096,
    CONFIG_PORT_DISCOVERY = 8009,    /* registered TCP port */
};

/* What an error is about: the user's input (exit status 2) or the machine (1). */
typedef enum ConfigError {
    CONFIG_ERROR_INPUT,
    CONFIG_ERROR_SYSTEM,
} ConfigError;

#define CONFIG_ERROR config_error_quark()
GQuark config_error_quark(void);

/* Address families with the values of the discovery log entry's ADRFAM. */
typedef enum ConfigAdrfam {
    CONFIG_ADRFAM_IPV4 = 1,
    CONFIG_ADRFAM_IPV6 = 2,
} ConfigAdrfam;

typedef enum ConfigBackend {
    CONFIG_BACKEND_RAM,
    CONFIG_BACKEND_NULL,
    CONFIG_BACKEND_FILE,
} ConfigBackend;

extern const ParseName config_adrfams[];
extern const ParseName config_ana_states[]; /* values of the ANA log page */
extern const ParseName config_controller_models[]; /* Connect: Base 2.0, 3.1.1 */
extern const ParseName config_treqs[];      /* values of TREQ in a discovery entry */

/* Where a namespace's blocks are: the text "device.path" taken apart. */
typedef struct ConfigDevice {
    ConfigBackend backend;
    char *path;          /* CONFIG_BACKEND_FILE only */
    /* 0 for a file: what the file or block device has; known once it is open. */
    uint64_t size;       /* bytes */
    uint32_t block_size; /* bytes */
} ConfigDevice;

typedef struct ConfigNamespace {
    unsigned line; /* in the configuration file, 0 if generated */
    uint32_t nsid;
    uint32_t ana_grpid;
    uint32_t enable;
    uint32_t resv_enable; /* reservations */
    uint8_t uuid[16];  /* zero until config_finish() derives one */
    uint8_t nguid[16]; /* zero: none */
    char *eui64;       /* 16 hexadecimal digits; NULL: none */
    ConfigDevice device;
    struct media_config media; /* the preset null: as fast as it goes */
    struct zone_config zoned;  /* size 0: not zoned */
} ConfigNamespace;

typedef struct ConfigSubsystem {
    unsigned line;
    char *nqn;
    uint32_t allow_any_host;
    GPtrArray *allowed_hosts; /* of char * */
    char *serial;
    char *model;
    char *firmware;
    uint32_t ieee_oui;
    uint32_t version;    /* as in the property VS */
    uint32_t cntlid_min;
    uint32_t cntlid_max;
    unsigned controller_model; /* 0: dynamic */
    uint32_t qid_max;    /* I/O queues of one controller */
    uint32_t max_queue_size; /* entries; 0: what the port allows */
    GPtrArray *namespaces; /* of ConfigNamespace * */
} ConfigSubsystem;

/* A host that "allowed_hosts" may name. */
typedef struct ConfigHost {
    unsigned line;
    char *nqn;
} ConfigHost;

typedef struct ConfigAnaGroup {
    unsigned line;
    uint32_t grpid;
    unsigned state;
} ConfigAnaGroup;

/* A discovery controller elsewhere that ours refers a host to. */
typedef struct ConfigReferral {
    unsigned line;
    char *name;
    unsigned adrfam;
    char *traddr;
    uint32_t trsvcid;
    uint32_t portid;
    uint32_t enable;
} ConfigReferral;

typedef struct ConfigPort {
    unsigned line;
    uint32_t portid;
    unsigned adrfam;
    char *traddr;
    uint32_t trsvcid; /* 0: any free port, until the listener fills in which */
    unsigned treq;
    char *advertise;  /* traddr for discovery entries; NULL: traddr itself */
    uint32_t inline_data_size; /* bytes */
    uint32_t max_queue_size;   /* entries */
    uint32_t cpda;             /* as in ICResp */
    uint32_t maxh2cdata;       /* bytes */
    uint32_t max_r2t;          /* in flight for one command */
    uint32_t r2t_size;         /* bytes */
    GPtrArray *ana_groups;     /* of ConfigAnaGroup * */
    GPtrArray *referrals;      /* of ConfigReferral * */
    GPtrArray *subsystems;     /* of char *, NQNs */
} ConfigPort;

/* A rule that makes the target misbehave: keys and values as the engine takes them. */
typedef struct ConfigFault {
    unsigned line;
    GPtrArray *values; /* of char *: key, value, key, value ... */
} ConfigFault;

typedef struct Config {
    char *file;            /* for messages; NULL if generated */
    GPtrArray *hosts;      /* of ConfigHost * */
    GPtrArray *ports;      /* of ConfigPort * */
    GPtrArray *subsystems; /* of ConfigSubsystem * */
    GPtrArray *faults;     /* of ConfigFault * */
} Config;

/* What the generator's flags ask for. */
typedef struct ConfigGenerator {
    uint32_t subsystems;
    uint32_t paths;
    uint32_t namespaces;  /* per subsystem */
    ConfigDevice device;  /* for a file: path is the directory */
    struct media_config media;
    struct zone_config zoned;
    uint32_t inline_data_size;
    uint32_t max_queue_size;
    uint32_t qid_max;
    uint32_t resv_enable;
    const unsigned *ana;  /* one state per path */
} ConfigGenerator;

/**
 * config_new - an empty configuration
 *
 * Return: a new object; free it with config_free().
 */
Config *config_new(void);
void config_free(Config *config);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Config, config_free)

/* New parts with nvmet's defaults; the arrays of Config own what is added. */
ConfigHost *config_host_new(void);
ConfigPort *config_port_new(void);
ConfigSubsystem *config_subsystem_new(void);
ConfigNamespace *config_namespace_new(void);
ConfigAnaGroup *config_ana_group_new(void);
ConfigReferral *config_referral_new(void);
ConfigFault *config_fault_new(void);

/**
 * config_find_subsystem - look a subsystem up by its NQN
 *
 * Return: the subsystem, owned by @config, or NULL.
 */
ConfigSubsystem *config_find_subsystem(const Config *config, const char *nqn);

/**
 * config_place - where a message about a part of the configuration points to
 * @line: of the object, 0 if unknown
 * @path: of the key
 *
 * Return: "FILE:LINE: PATH", less what is not known; freed by g_free().
 */
char *config_place(const Config *config, unsigned line, const char *path);

/**
 * config_format_uuid - 16 bytes as 8-4-4-4-12 hexadecimal digits
 *
 * Return: a new string, freed by g_free().
 */
char *config_format_uuid(const uint8_t id[16]);

/**
 * config_device_parse - take a "device.path" apart
 * @text: "ram:256M", "null:1G", "file:/path?size=256M", each with
 *        "block_size=4096" among the ?key=value&key=value options, or a plain
 *        absolute path
 * @device: filled on success; config_device_clear() frees what it owns
 * @why: on failure what is allowed, static
 *
 * Return: true on success.
 */
bool config_device_parse(const char *text, ConfigDevice *device, const char **why);
void config_device_clear(ConfigDevice *device);

/**
 * config_device_format - the reverse of config_device_parse()
 *
 * Return: a new string, freed by g_free(); "" if no device is named yet.
 */
char *config_device_format(const ConfigDevice *device);

/**
 * config_address_valid - whether a text is a numeric address of a family
 */
bool config_address_valid(unsigned adrfam, const char *text);

/**
 * config_derive_identifiers - fill in serial numbers and UUIDs that were left out: from the NQN
 *                             and the NSID, so that they are the same on each run
 */
void config_derive_identifiers(ConfigSubsystem *subsystem);

/**
 * config_generate - the configuration that the generator's flags stand for
 * @generator: values already in range
 *
 * NQNs are nqn.2026-01.org.lockstep:subsystem1 and so on.
 *
 * Return: a new object for config_finish().
 */
Config *config_generate(const ConfigGenerator *generator);

/**
 * config_load - read a configuration file
 * @file: nvmetcli's JSON
 * @error: set on failure: file, line, path of the key, value, what is allowed
 *
 * Return: a new object for config_finish(), or NULL.
 */
Config *config_load(const char *file, GError **error);

/**
 * config_parse - config_load() on text in memory
 * @name: of the file, for messages
 * @text: need not be NUL-terminated
 * @length: bytes
 */
Config *config_parse(const char *name, const char *text, size_t length, GError **error);

/* Where to listen in place of what the configuration says. */
typedef struct ConfigListen {
    unsigned adrfam;
    const char *traddr;
    bool has_port;    /* else the ports keep their trsvcid */
    uint32_t trsvcid; /* of the first port; the next ones count up; 0: any for each */
} ConfigListen;

/**
 * config_listen - put all ports on one address
 * @config: its ports are changed
 * @listen: copied; a numeric address
 * @error: set if there are more ports than TCP port numbers from there on
 */
bool config_listen(Config *config, const ConfigListen *listen, GError **error);

/**
 * config_advertise - give an address to discovery in place of listen addresses
 * @config: its ports of the address's family that have no "advertise" of their
 *          own are changed
 * @address: numeric
 * @error: set if there is no port of that family
 */
bool config_advertise(Config *config, const char *address, GError **error);

/**
 * config_finish - check what needs the whole (duplicates, references between
 *                 parts, addresses) and derive what was left out
 * @config: changed in place: UUIDs from NQN and NSID, serial numbers from the
 *          NQN, so that they are the same on each run
 * @error: set on failure, as config_load() does
 *
 * Return: true if the daemon can try to serve @config.
 */
bool config_finish(Config *config, GError **error);

#endif
