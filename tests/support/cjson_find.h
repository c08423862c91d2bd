/* The library reads JSON with a tree of its own (base/json/json.h). Tests that change documents, and the facts of cases/,
 * have the tree of cJSON, an opinion that the library's does not share. */
#ifndef LX_TESTS_SUPPORT_CJSON_FIND_H
#define LX_TESTS_SUPPORT_CJSON_FIND_H

#include <cjson/cJSON.h>

/* The value of a key, or NULL. run_cases sets a function that also remembers which values were read. */
typedef cJSON *cjson_finder(const cJSON *object, const char *key);
extern cjson_finder *cjson_find;

#endif
