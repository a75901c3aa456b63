/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Admin command set as a table, and the commands that need no file of their own: Keep Alive.
 * Not here: Identify, features, log pages, asynchronous events, Abort (identify.c, features.c,
 * logpage.c, aer.c, abort.c).
 * NVM Express Base 2.0, chapter 5.
 */
#include "engine/ctrl.h"

/*
 * That the command came is already noted (lst_req_prepare). Without a timer it is still no error.
 */
static void keep_alive_run(struct lst_req *req)
{
    lst_req_complete(req, NV_SC_SUCCESS);
}

const struct lst_command lst_admin_commands[256] = {
    [NV_ADMIN_GET_LOG_PAGE] = { LST_CMD_OUT | LST_CMD_DISCOVERY, lst_log_length, lst_log_run },
    [NV_ADMIN_IDENTIFY] = { LST_CMD_OUT | LST_CMD_DISCOVERY, lst_identify_length,
                            lst_identify_run },
    [NV_ADMIN_ABORT] = { 0, NULL, lst_abort_run },
    [NV_ADMIN_SET_FEATURES] = { LST_CMD_IN | LST_CMD_DISCOVERY, lst_feature_set_length,
                                lst_feature_set_run },
    [NV_ADMIN_GET_FEATURES] = { LST_CMD_OUT | LST_CMD_DISCOVERY, lst_feature_get_length,
                                lst_feature_get_run },
    [NV_ADMIN_ASYNC_EVENT] = { LST_CMD_DISCOVERY, NULL, lst_aer_run },
    [NV_ADMIN_KEEP_ALIVE] = { LST_CMD_DISCOVERY, NULL, keep_alive_run },
};
