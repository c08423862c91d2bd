#include "support/json_text.h"

static bool json_text_is_whole(const cJSON *value)
{
    double v = value->valuedouble;
    return cJSON_IsNumber(value) && fabs(v) < 1e15 && !(v < trunc(v)) && !(v > trunc(v));
}

static void json_text_whole(struct text *out, int64_t value)
{
    char digits[24], *at = digits + sizeof digits;
    int64_t rest = value < 0 ? -value : value;
    do {
        *--at = (char)('0' + rest % 10);
    } while (rest /= 10);
    if (value < 0) *--at = '-';
    text_add_n(out, at, (size_t)(digits + sizeof digits - at));
}

static void json_text_other(struct text *out, const cJSON *value)
{
    char *text = cJSON_PrintUnformatted(value);
    if (text) text_add(out, text);
    free(text);
}

void json_text_add(struct text *out, const cJSON *value)
{
    bool object = cJSON_IsObject(value);
    if (json_text_is_whole(value))
        json_text_whole(out, (int64_t)value->valuedouble);
    else if (cJSON_IsString(value))
        text_json_string(out, value->valuestring);
    else if (!object && !cJSON_IsArray(value))
        json_text_other(out, value);
    else {
        text_add(out, object ? "{" : "[");
        for (const cJSON *v = value->child; v; v = v->next) {
            if (v != value->child) text_add(out, ",");
            if (object) text_json_string(out, v->string), text_add(out, ":");
            json_text_add(out, v);
        }
        text_add(out, object ? "}" : "]");
    }
}
