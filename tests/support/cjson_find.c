#include "support/cjson_find.h"

cjson_finder *cjson_find = cJSON_GetObjectItemCaseSensitive;
