/* The text of a cJSON value, without spaces: what cJSON writes, but several times as fast, as nearly all numbers are whole ones. */
#ifndef LX_TESTS_SUPPORT_JSON_TEXT_H
#define LX_TESTS_SUPPORT_JSON_TEXT_H

#include "base/text.h"
#include "base/memory.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>

void json_text_add(struct text *out, const cJSON *value);

#endif
