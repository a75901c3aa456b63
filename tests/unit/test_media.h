/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of the media model, in two files of one program. */
#ifndef TESTS_UNIT_TEST_MEDIA_H
#define TESTS_UNIT_TEST_MEDIA_H

#include <glib.h>

#include "media/media.h"

void test_media_config_add(void);

#endif
