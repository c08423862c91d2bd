/* An explorer without a terminal, driven by keys: what its tests share. */
#ifndef LX_TESTS_SUPPORT_EXPLORER_BY_KEYS_H
#define LX_TESTS_SUPPORT_EXPLORER_BY_KEYS_H

#include "tui/core/explorer.h"
#include "base/memory.h"
#include "base/rng.h"

#include <ftw.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define GQ  SOURCE_DIR "/patterns/graphs/gq_attention.json"
#define MOE SOURCE_DIR "/patterns/targets/moe_mlp.json" /* known by its bytes only */

int explorer_test_begin(void **state);
int explorer_test_end(void **state);
struct explorer *open_on(const char *pattern, int rows, int columns);
void close_it(struct explorer *x);
void explorer_type(struct explorer *x, const char *keys);
bool explorer_shows(struct explorer *x, const char *words);

#endif
