/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: the list of the run-control device's test groups.
 * Not here: the tests (test_control_*.c).
 * Standard: include/lockstep/control_regs.h.
 */
#include <glib.h>

#include "test_control.h"

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    control_add_register_tests();
    control_add_put_tests();
    control_add_get_tests();
    control_add_end_tests();
    control_add_snapshot_tests();
    control_add_random_tests();
    return g_test_run();
}
