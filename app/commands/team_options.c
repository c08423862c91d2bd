/* --team and --cut: the grid of a team, and what its axes are to cut. */
#include "commands/team_commands.h"
#include "base/arena.h"
#include "base/fail.h"

#include <stdlib.h>
#include <string.h>

const struct option_row team_rows[] = {
    {"team", 0, "N|AxB",
     "cut the graph over N devices, or over a grid of them, that exchange what they need of each other "
     "(under "
     "mpirun: as many as processes)"},
    {"cut", 0, "TENSOR=D[,D]",
     "each axis of the grid cuts TENSOR along its dimension D, or not (-); may be repeated; else as is best"},
    {"team-by", 0, "WORD",
     "what cuts of a team are chosen for: {}: fewest exchanged, or least predicted (default: time where that "
     "is "
     "the objective, else bytes)"},
    {0},
};

const char *team_aim_word(int k)
{
    static const char *const words[] = {"bytes", "time", NULL};
    return words[k];
}

bool read_team_aim(struct call *call, enum lx_ask objective, bool *by_time)
{
    int k = objective == LX_ASK_TIME;
    if (!option_word(call, "team-by", team_aim_word, &k)) return false;
    *by_time = k == 1;
    return true;
}

/* "0,-" after the equals sign; as many as there are axes. */
static bool read_axes(const char *text, int axes, int cut[LX_TEAM_AXES])
{
    for (int a = 0; a < LX_TEAM_AXES; a++) cut[a] = -1;
    for (int a = 0; a < axes; a++) {
        char *end = NULL;
        if (*text == '-' && (text[1] == ',' || text[1] == 0)) {
            text++;
        } else {
            cut[a] = (int)strtol(text, &end, 10);
            if (end == text || cut[a] < 0 || cut[a] >= LX_MAX_RANK) return false;
            text = end;
        }
        if (*text == 0) return true;
        if (*text++ != ',') return false;
    }
    return false;
}

static bool team_options_read_choice(struct call *call, const char *text, int axes,
                                     struct lx_team_choice *out)
{
    const char *equals = strrchr(text, '=');
    if (!equals || equals == text || !read_axes(equals + 1, axes, out->cut))
        return status_set(
            &call->st, LX_E_USAGE,
            "--cut %s: write TENSOR=D for the dimension that is cut, TENSOR=- for none; with a comma "
            "between what the axes of a grid cut",
            text);
    out->tensor = arena_copy(call->line.memory, text, (size_t)(equals - text));
    return out->tensor ? true : status_no_memory(&call->st);
}

static bool read_choices(struct call *call, struct lx_team_options *how)
{
    size_t count = call->line.options.count;
    struct lx_team_choice *list = arena_array(call->line.memory, count + 1, sizeof *list);
    if (!list) return status_no_memory(&call->st);
    for (size_t i = 0; i < count; i++) {
        const struct given_option *o = &call->line.options.at[i];
        if (strcmp(o->name, "cut") != 0) continue;
        struct lx_team_choice *c = &list[how->choice_count];
        if (!team_options_read_choice(call, o->value, how->grid.axes, c)) return false;
        for (int k = 0; k < how->choice_count; k++)
            if (strcmp(list[k].tensor, c->tensor) == 0)
                return status_set(&call->st, LX_E_USAGE,
                                  "--cut %s: tensor %s has a --cut before; leave one out", o->value,
                                  c->tensor);
        how->choice_count++;
    }
    how->choices = list;
    return true;
}

/* As asked; else as many as there are processes; else two. */
bool read_team(struct call *call, const struct lx_transport *transport, struct lx_team_options *how)
{
    const char *text = option_value(&call->line, "team");
    *how = (struct lx_team_options){.grid = {1, {2}}};
    if (text && !lx_team_grid_of_text(text, &how->grid, &call->st)) return false;
    if (!text && transport && transport->members) how->grid.size[0] = transport->members(&call->st);
    how->members = lx_team_members_of(&how->grid);
    return how->members > 0 && read_choices(call, how);
}
