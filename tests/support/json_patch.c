#include "support/json_patch.h"

/* What `pointer` leads to ("" is the whole), or NULL. `*parent` and `key`: where it stands, also if it is not
 * there. */
static cJSON *json_pointer(cJSON *root, const char *pointer, cJSON **parent, char key[100])
{
    cJSON *at = root;
    *parent = NULL;
    while (at && *pointer == '/') {
        size_t n = strcspn(++pointer, "/");
        snprintf(key, 100, "%.*s", (int)n, pointer);
        *parent = at;
        at = cJSON_IsArray(at) ? (strcmp(key, "-") == 0 ? NULL : cJSON_GetArrayItem(at, atoi(key)))
                               : cJSON_GetObjectItemCaseSensitive(at, key);
        pointer += n;
    }
    return *pointer ? NULL : at;
}

static bool json_patch_one(cJSON *root, const cJSON *edit)
{
    const char *op = cJSON_GetStringValue(cJSON_GetObjectItem(edit, "op"));
    const char *path = cJSON_GetStringValue(cJSON_GetObjectItem(edit, "path"));
    cJSON *parent = NULL, *value = cJSON_Duplicate(cJSON_GetObjectItem(edit, "value"), true);
    char key[100] = "";
    cJSON *at = op && path ? json_pointer(root, path, &parent, key) : NULL;
    if (!op || !path || !parent) return cJSON_Delete(value), false;
    if (strcmp(op, "remove") == 0) return at && (cJSON_Delete(cJSON_DetachItemViaPointer(parent, at)), true);
    if (!value) return false;
    if (at) {
        cJSON_free(value->string); /* the key of the edit, not of what it replaces */
        value->string = at->string ? strdup(at->string) : NULL; /* cJSON frees it */
        return cJSON_ReplaceItemViaPointer(parent, at, value);
    }
    if (strcmp(op, "add") != 0) return cJSON_Delete(value), false;
    return cJSON_IsArray(parent) ? cJSON_AddItemToArray(parent, value)
                                 : cJSON_AddItemToObject(parent, key, value);
}

bool json_patch(cJSON *root, const cJSON *edits)
{
    const cJSON *edit;
    cJSON_ArrayForEach(edit, edits) if (!json_patch_one(root, edit)) return false;
    return true;
}
