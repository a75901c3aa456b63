/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Here: what each file of the run-control device's tests adds to the list.
 * Not here: their machine (control_fixture.h).
 * Standard: include/lockstep/control_regs.h.
 */
#ifndef LOCKSTEP_TEST_CONTROL_H
#define LOCKSTEP_TEST_CONTROL_H

void control_add_register_tests(void);
void control_add_put_tests(void);
void control_add_get_tests(void);
void control_add_end_tests(void);
void control_add_snapshot_tests(void);
void control_add_random_tests(void);

#endif /* LOCKSTEP_TEST_CONTROL_H */
