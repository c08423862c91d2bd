/* Looks every name of `expect` up among the solvers; the nearest one there is goes into the error. */
#include "planning/expectations.h"
#include "lxplan.h"
#include "base/fail.h"
#include "base/json.h"
#include "text/format.h"

#include <string.h>

enum { MOST_NAMES = 64 };

bool expectations_known(const struct lx_graph *g, lx_status *st)
{
    for (int i = 0; i < g->expect_count; i++)
        if (!lx_solver_find(g->expects[i].solver)) {
            const char *names[MOST_NAMES + 1] = {0};
            for (int k = 0; k < MOST_NAMES && lx_solver_at(k, "name"); k++)
                names[k] = lx_solver_at(k, "name");
            const char *near = nearest(g->expects[i].solver, names);
            return status_set_at(
                st, LX_E_UNKNOWN_NAME, g->file, g->expects[i].line, g->expects[i].column,
                "\"expect\" names a solver \"%.40s\", which there is not%s%s%s `lxplan solvers` lists them",
                g->expects[i].solver, near ? "; did you mean \"" : ";", near ? near : "", near ? "\"?" : "");
        }
    return true;
}

bool expected_error_of(const char *file, const char *text, size_t length, struct expected_error *e)
{
    struct json j;
    lx_status ignored;
    if (lx_is_plan(text, length) || !json_parse(&j, file, text, length, &ignored)) return false;
    const struct json_value *expect = json_is_object(j.root) ? json_find(j.root, "expect") : NULL;
    const struct json_value *error = json_is_object(expect) ? json_find(expect, "error") : NULL;
    const struct json_value *stage = json_is_object(error) ? json_find(error, "stage") : NULL;
    const struct json_value *code = json_is_object(error) ? json_find(error, "code") : NULL;
    bool found = json_is_string(stage) && json_is_string(code) && strlen(stage->text) < sizeof e->stage &&
                 strlen(code->text) < sizeof e->code;
    if (found) {
        strcpy(e->stage, stage->text);
        strcpy(e->code, code->text);
    }
    json_free(&j);
    return found;
}
