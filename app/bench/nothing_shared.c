/* Why two results files have no run in common: the first reason that holds. */
#include "bench/comparison.h"
#include "base/fail.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

/* Is there a row on both sides with the same text at this place of it? */
typedef const char *row_text(const struct row *r);

static const char *nothing_shared_name_of(const struct row *r)
{
    return r->name;
}

static const char *nothing_shared_solver_of(const struct row *r)
{
    return r->solver;
}

static bool nothing_shared_share(const struct results *a, const struct results *b, row_text *of)
{
    for (size_t i = 0; i < a->rows.count; i++)
        for (size_t k = 0; k < b->rows.count; k++)
            if (strcmp(of(&a->rows.at[i]), of(&b->rows.at[k])) == 0) return true;
    return false;
}

/* A member of the header as people wrote it; their own where they said nothing. */
static void nothing_shared_add_member(struct text *out, const cJSON *v)
{
    char *text = cJSON_IsString(v) ? NULL : v && !cJSON_IsNull(v) ? cJSON_PrintUnformatted(v) : NULL;
    text_format(out, "%.60s", cJSON_IsString(v) ? v->valuestring : text ? text : "own");
    cJSON_free(text);
}

/* "lx (own, 8%)": what the headers say that makes other problems of the same files. */
static void add_settings(const struct results *a, const struct results *b, struct text *out)
{
    static const char *const keys[] = {"lx", "objective", "options"};
    cJSON *x = cJSON_Parse(a->headers.at[0]), *y = cJSON_Parse(b->headers.at[0]);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const cJSON *m = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(x, "header"),
                                                          keys[i]),
                    *n = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(y, "header"),
                                                          keys[i]);
        bool same = (!m || cJSON_IsNull(m)) ? !n || cJSON_IsNull(n) : n && cJSON_Compare(m, n, true);
        if (same) continue;
        text_format(out, "%s%s (", out->length ? ", " : "", keys[i]);
        nothing_shared_add_member(out, m);
        text_add(out, ", ");
        nothing_shared_add_member(out, n);
        text_add(out, ")");
    }
    cJSON_Delete(x);
    cJSON_Delete(y);
}

bool nothing_shared(const struct results *before, const struct results *after, lx_status *st)
{
    const char *path = after->files.at[0];
    struct text settings = {0};
    if (before->rows.count == 0 || after->rows.count == 0)
        return status_set_at(st, LX_E_USAGE, before->rows.count ? path : before->files.at[0], 0, 0,
                             "nothing to compare: there are no runs in this file");
    if (!nothing_shared_share(before, after, nothing_shared_name_of))
        return status_set_at(
            st, LX_E_USAGE, path, 0, 0,
            "nothing to compare: no instance is in both files; --merge makes one report of both");
    if (!nothing_shared_share(before, after, nothing_shared_solver_of))
        return status_set_at(
            st, LX_E_USAGE, path, 0, 0,
            "nothing to compare: no solver is in both files; --merge makes one report of both");
    add_settings(before, after, &settings);
    if (settings.length)
        status_set_at(
            st, LX_E_USAGE, path, 0, 0,
            "nothing to compare: all instances differ in %s; run both with the same, or --merge makes "
            "one report of both",
            settings.at);
    else
        status_set_at(
            st, LX_E_USAGE, path, 0, 0,
            "nothing to compare: the instances have the same names and other contents; run both on the "
            "same files");
    text_free(&settings);
    return false;
}
