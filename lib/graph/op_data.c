/* Numbers in ops, as they are read. JSON has no infinities: they are words. */
#include "graph/op_data.h"
#include "base/fail.h"

#include <math.h>
#include <string.h>

static bool number_of(const struct json *j, const cJSON *v, const char *key, double *out, lx_status *st)
{
    static const struct {
        const char *word;
        double number;
    } words[] = {{"inf", INFINITY}, {"-inf", -INFINITY}, {"nan", NAN}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(v->valuestring, words[i].word) == 0) return *out = words[i].number, true;
    return json_error(j, v, st, LX_E_SCHEMA, "\"%s\" must be a number, \"inf\", \"-inf\" or \"nan\"", key);
}

bool op_value_read(const struct json *j, const cJSON *object, double *out, lx_status *st)
{
    const cJSON *v = json_find(object, "value");
    if (v && cJSON_IsString(v)) return number_of(j, v, "value", out, st);
    return json_opt_number(j, object, "value", -1e300, 1e300, out, st);
}
