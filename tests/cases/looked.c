/* What the runner has looked at of a file, so that a case whose data nobody read cannot pass.
 *
 * Every look into an object goes through case_find, which remembers the value it found and that the object was
 * opened. At the end of a case each value of it must have been found, down to objects that were walked
 * through as a whole. Words (strings that are no expectation) may stay unread: they are remarks; so may what the
 * form lists as such. */
#include "cases/cases.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* A set of pointers: open addressing, a power of two of room, at most half full. */
static struct {
    const void **at;
    size_t count, room;
} seen;

static size_t place_of(const void *what)
{
    size_t i = (size_t)((uintptr_t)what * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (seen.room - 1);
    while (seen.at[i] && seen.at[i] != what) i = (i + 1) & (seen.room - 1);
    return i;
}

static bool is_seen(const void *what)
{
    return seen.room > 0 && seen.at[place_of(what)] == what;
}

static void grow(void)
{
    const void **old = seen.at;
    size_t room = seen.room;
    seen.room = room ? room * 2 : 1024;
    seen.at = mem_zeroed(seen.room, sizeof *seen.at);
    if (!seen.at) abort();
    for (size_t i = 0; i < room; i++)
        if (old[i]) seen.at[place_of(old[i])] = old[i];
    mem_free(old);
}

static void see(const void *what)
{
    if (!what || is_seen(what)) return;
    if (2 * (seen.count + 1) > seen.room) grow();
    seen.at[place_of(what)] = what;
    seen.count++;
}

void case_looked(const cJSON *value)
{
    see(value);
}

bool case_is_looked(const cJSON *value)
{
    return is_seen(value);
}

void looked_forget(void)
{
    mem_free(seen.at);
    seen.at = NULL;
    seen.count = seen.room = 0;
}

/* An object is marked as opened by the address of its first member's link, which is no value's own. */
static const void *opened(const cJSON *object)
{
    return &object->child;
}

cJSON *case_find(const cJSON *object, const char *key)
{
    cJSON *found = cJSON_GetObjectItemCaseSensitive(object, key);
    if (object) see(opened(object));
    see(found);
    return found;
}

bool words_only(const cJSON *value)
{
    const cJSON *v;
    if (!cJSON_IsObject(value)) return cJSON_IsString(value) || cJSON_IsNull(value);
    cJSON_ArrayForEach(v, value) if (!words_only(v)) return false;
    return true;
}

/* Words that say what must come out, whoever wrote them. */
static bool is_expectation(const char *key)
{
    static const char *const begins[] = {"expect", "raises", "error"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (key && strncmp(key, begins[i], strlen(begins[i])) == 0) return true;
    return false;
}

static bool is_remark(const cJSON *value, const char *const *remarks)
{
    for (; remarks && *remarks && value->string; remarks++)
        if (strcmp(*remarks, value->string) == 0) return true;
    return words_only(value) && !is_expectation(value->string);
}

/* Only what was opened leads to more: an object, or a list with one in it. */
const cJSON *case_unread(const cJSON *value, const char *const *remarks)
{
    const cJSON *v, *found;
    bool was_opened = cJSON_IsObject(value) && is_seen(opened(value));
    if (!was_opened && !cJSON_IsArray(value)) return NULL;
    cJSON_ArrayForEach(v, value)
    {
        if (is_remark(v, remarks)) continue;
        if (was_opened && !is_seen(v)) return v;
        if ((found = case_unread(v, remarks))) return found;
    }
    return NULL;
}
