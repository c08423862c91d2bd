/* The plan of a team with an index for the screen. */
#include "tui/team/team_cut.h"
#include "base/file.h"

/* Ops times devices: planning takes about a millisecond for ten of them. */
enum { MOST_PLANNED = 4000 };

void team_cut_make(const struct source_content *from, const struct lx_team_grid *grid, bool chosen,
                   struct team_cut *out)
{
    *out = (struct team_cut){.grid = *grid, .st = from->st};
    if (from->team_file && !chosen) {
        /* The shards and the plans of the file. */
        size_t length = 0;
        OWNED char *text = file_read(from->team_file, &length, &out->st);
        out->plans = text ? lx_team_plans_parse(from->team_file, text, length, &out->st) : NULL;
        if (out->plans) {
            out->plan = out->plans->team;
            out->grid = out->plan->grid;
            out->members = out->plan->devices;
        }
    } else {
        if (!chosen && from->graph && from->graph->grid_axes > 0) {
            out->grid.axes = from->graph->grid_axes;
            memcpy(out->grid.size, from->graph->grid, sizeof out->grid.size);
        }
        out->members = lx_team_device_count(&out->grid);
        struct lx_team_options how = {.grid = out->grid};
        if (from->graph) out->plan = lx_team_make(from->graph, &how, &out->st);
    }
    if (out->plan) {
        /* Exchanges stand before their first readers: by counting. */
        const struct lx_team_plan *p = out->plan;
        size_t ops = (size_t)p->graph->op_count, all = ops + (size_t)p->exchange_count;
        out->rows = mem_alloc((all + 1) * sizeof *out->rows);
        out->row_of_op = mem_zeroed(ops + 1, sizeof *out->row_of_op);
        OWNED int32_t *next = mem_zeroed(ops + 1, sizeof *next);
        for (int32_t e = 0; e < p->exchange_count; e++) out->row_of_op[p->exchanges[e].first_reader]++;
        for (int32_t o = 0, row = 0; o < p->graph->op_count; o++) {
            next[o] = row;
            row += out->row_of_op[o];
            out->row_of_op[o] = row;
            out->rows[row++] = (struct team_row){o, -1};
        }
        for (int32_t e = 0; e < p->exchange_count; e++)
            out->rows[next[p->exchanges[e].first_reader]++] = (struct team_row){-1, e};
        out->row_count = (int)all;
    }
}

void team_cut_plan(struct team_cut *c, const struct lx_plan_options *how)
{
    lx_status ignored = {0};
    struct lx_team_options again = {.grid = c->grid};
    bool small = c->plan && (int64_t)c->plan->graph->op_count * c->members <= MOST_PLANNED;
    struct lx_team_plan *team = small && !c->plans ? lx_team_make(c->plan->graph, &again, &ignored) : NULL;
    if (team) c->plans = lx_team_plans_make(team, how, &ignored);
    c->planned = c->plans ? mem_zeroed((size_t)c->members, sizeof *c->planned) : NULL;
    for (int m = 0; c->plans && m < c->members; m++) c->planned[m] = lx_team_planned(c->plans, m);
    if (c->plans) team_figures_make(c->plans, &c->figures);
}

void team_cut_free(struct team_cut *c)
{
    team_figures_free(&c->figures);
    if (!c->plans || c->plan != c->plans->team) lx_team_free(c->plan);
    lx_team_plans_free(c->plans);
    mem_free(c->planned);
    mem_free(c->rows);
    mem_free(c->row_of_op);
    *c = (struct team_cut){0};
}

int32_t team_cut_op(const struct team_cut *c, const char *name)
{
    for (int32_t o = 0; c->plan && o < c->plan->graph->op_count; o++)
        if (strcmp(c->plan->graph->ops[o].name, name) == 0) return o;
    return -1;
}

int32_t team_cut_tensor(const struct team_cut *c, const char *name)
{
    for (int32_t t = 0; c->plan && t < c->plan->graph->tensor_count; t++)
        if (strcmp(c->plan->graph->tensors[t].name, name) == 0) return t;
    return -1;
}

int32_t team_cut_exchange(const struct team_cut *c, int32_t tensor, int32_t op)
{
    const struct lx_team_plan *p = c->plan;
    int32_t next = -1, last = -1;
    for (int i = 0; op >= 0 && i < p->graph->ops[op].input_count; i++)
        if (p->graph->ops[op].inputs[i] == tensor && p->ops[op].exchange[i] >= 0)
            return p->ops[op].exchange[i];
    for (int32_t e = 0; e < p->exchange_count; e++) {
        const struct lx_team_exchange *x = &p->exchanges[e];
        if (x->tensor != tensor) continue;
        if (last < 0 || x->first_reader > p->exchanges[last].first_reader) last = e;
        if (x->first_reader >= op && (next < 0 || x->first_reader < p->exchanges[next].first_reader))
            next = e;
    }
    return next >= 0 ? next : last;
}

int team_cut_along(const struct team_cut *c, int32_t tensor)
{
    const struct lx_team_tensor *t = &c->plan->tensors[tensor];
    for (int a = 0; a < LX_TEAM_AXES; a++)
        if (t->shard[a] >= 0) return t->shard[a];
    return -1;
}

struct team_part team_cut_part(const struct team_cut *c, int32_t tensor, int32_t exchange, int member)
{
    const struct lx_tensor *t = &c->plan->graph->tensors[tensor];
    int along = team_cut_along(c, tensor);
    struct lx_team_box own = lx_team_own(c->plan, tensor, member);
    struct team_part part = {.own = {0, 1}, .extent = 1};
    if (along < 0) along = 0;
    if (t->rank > 0) {
        part.extent = t->shape[along];
        part.own = (struct lx_team_range){own.offset[along], own.offset[along] + own.size[along]};
    }
    if (exchange < 0 || t->rank == 0) return part;
    const struct lx_team_box *box = &c->plan->exchanges[exchange].box[member];
    if (lx_team_box_empty(box)) return part;
    part.box = (struct lx_team_range){box->offset[along], box->offset[along] + box->size[along]};
    part.apart = range_size(part.own) == 0 || part.box.end < part.own.begin || part.box.begin > part.own.end;
    if (part.apart) return part;
    part.left = max_i64(part.own.begin - part.box.begin, 0);
    part.right = max_i64(part.box.end - part.own.end, 0);
    return part;
}

int team_cut_owner(const struct team_cut *c, int32_t tensor, int64_t at)
{
    const struct lx_team_tensor *t = &c->plan->tensors[tensor];
    int along = team_cut_along(c, tensor);
    const int64_t *bound = along < 0 ? NULL : t->bound[along];
    int low = 0, high = along < 0 ? 0 : lx_team_blocks(&c->plan->grid, t->shard, along) - 1;
    while (bound && low < high) { /* the last block that begins at or before it; empty ones lie before */
        int middle = (low + high + 1) / 2;
        if (bound[middle] <= at)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

bool team_cut_core(const struct team_cut *c, int32_t op, int member, struct lx_team_range *core)
{
    int32_t group = op >= 0 ? c->plan->ops[op].group : -1;
    if (group < 0 || !c->plan->groups[group].core) return false;
    *core = c->plan->groups[group].core[member].range[0];
    return true;
}
