/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Properties (controller registers) as a table: offset, size, get, set.
 * Not here: what writing CC does (ctrl.c), the Fabrics commands around it (fabrics.c).
 * NVM Express Base 2.0, 3.1.3; answers to bad accesses: choices.h.
 */
#include "engine/choices.h"
#include "engine/ctrl.h"

static uint64_t get_vs(const struct lst_ctrl *ctrl)
{
    return ctrl->subsys->version;
}

static uint64_t get_cc(const struct lst_ctrl *ctrl)
{
    return ctrl->cc;
}

static uint64_t get_csts(const struct lst_ctrl *ctrl)
{
    return ctrl->csts;
}

/* Reads as zero: subsystem reset is not supported (CAP.NSSRS), but register dumps ask. */
static uint64_t get_nssr(const struct lst_ctrl *ctrl)
{
    (void)ctrl;
    return 0;
}

/* CRWMT in 15:0; CRIMT stays 0, since CAP.CRIMS is. */
static uint64_t get_crto(const struct lst_ctrl *ctrl)
{
    (void)ctrl;
    return LST_READY_TIMEOUT_500MS;
}

static void set_cc(struct lst_ctrl *ctrl, uint64_t value)
{
    lst_ctrl_write_cc(ctrl, (uint32_t)value);
}

static const struct property {
    uint32_t offset;
    unsigned size;                       /* bytes */
    uint32_t since;                      /* lowest VS that has it */
    uint64_t (*get)(const struct lst_ctrl *ctrl);
    void (*set)(struct lst_ctrl *ctrl, uint64_t value);
} properties[] = {
    { NV_REG_CAP, 8, 0, lst_ctrl_cap, NULL },
    { NV_REG_VS, 4, 0, get_vs, NULL },
    { NV_REG_CC, 4, 0, get_cc, set_cc },
    { NV_REG_CSTS, 4, 0, get_csts, NULL },
    { NV_REG_NSSR, 4, 0, get_nssr, NULL },
    { NV_REG_CRTO, 4, NV_VS(2, 0, 0), get_crto, NULL },
};

static const struct property *property_find(const struct lst_ctrl *ctrl, uint32_t offset,
                                            unsigned size)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(properties); i++) {
        const struct property *property = &properties[i];

        if (property->offset == offset && property->size == size &&
            ctrl->subsys->version >= property->since) {
            return property;
        }
    }
    return NULL;
}

uint16_t lst_property_get(struct lst_ctrl *ctrl, uint32_t offset, unsigned size, uint64_t *value)
{
    const struct property *property = property_find(ctrl, offset, size);

    if (!property) {
        return LST_STATUS_PROPERTY;
    }
    *value = property->get(ctrl);
    return NV_SC_SUCCESS;
}

uint16_t lst_property_set(struct lst_ctrl *ctrl, uint32_t offset, unsigned size, uint64_t value)
{
    const struct property *property = property_find(ctrl, offset, size);

    if (!property || !property->set) {
        return LST_STATUS_PROPERTY;
    }
    property->set(ctrl, value);
    return NV_SC_SUCCESS;
}
