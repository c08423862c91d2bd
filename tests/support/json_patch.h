/* Edits of JSON documents as in RFC 6902, as far as tests need them: add, replace and remove, by pointers whose
 * keys have neither ~ nor /. A patch that does not apply fails the test. */
#ifndef LX_TESTS_SUPPORT_JSON_PATCH_H
#define LX_TESTS_SUPPORT_JSON_PATCH_H

#include "base/memory.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool json_patch(cJSON *root, const cJSON *edits);

#endif
