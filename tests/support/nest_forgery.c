#include "support/nest_forgery.h"

static void *forge_copy_of(const void *from, size_t count, size_t size)
{
    char *to = mem_zeroed(count + 2, size);
    if (to && count) memcpy(to, from, count * size);
    return to;
}

static int forge_below(struct forgery *f, int n)
{
    return n > 0 ? (int)rng_below(f->rng, (uint64_t)n) : 0;
}

/* One nest gets variables of its own that can be changed. */
static struct lx_nest *forge_nest(struct forgery *f)
{
    struct lx_nest *n = &f->nests[forge_below(f, f->plan.nest_count)];
    size_t ops = (size_t)(n->last - n->first + 1);
    f->vars = mem_zeroed(ops + 2, sizeof *f->vars);
    memcpy(f->vars + 1, n->var, ops * sizeof *f->vars);
    memcpy(f->vars, n->var, sizeof *f->vars);
    memcpy(f->vars + ops + 1, n->var + ops - 1, sizeof *f->vars);
    n->var = (const signed char(*)[LX_MAX_LEVELS])(f->vars + 1);
    return n;
}

void forge_begin(struct forgery *f, const struct lx_plan *p, struct rng *r)
{
    size_t buffers = (size_t)p->problem.count, accesses = (size_t)p->access_at[p->layouts->graph->op_count];
    *f = (struct forgery){.plan = *p, .divisions = *p->divisions, .rng = r};
    f->nests = forge_copy_of(p->nests, (size_t)p->nest_count, sizeof *f->nests);
    f->stays = forge_copy_of(p->stays, buffers, sizeof *f->stays);
    f->accesses = forge_copy_of(p->accesses, accesses, sizeof *f->accesses);
    f->transfers = forge_copy_of(p->transfers, (size_t)p->transfer_count, sizeof *f->transfers);
    f->buffers = forge_copy_of(p->problem.buffers, buffers, sizeof *f->buffers);
    f->address = forge_copy_of(p->answer.address, buffers, sizeof *f->address);
    f->launches = forge_copy_of(p->launches, (size_t)p->layouts->graph->op_count, sizeof *f->launches);
    f->plan.launches = f->launches;
    f->plan.nests = f->divisions.nests = f->nests;
    f->plan.divisions = &f->divisions;
    f->plan.stays = f->stays;
    f->plan.accesses = f->accesses;
    f->plan.transfers = f->transfers;
    f->plan.problem.buffers = f->buffers;
    f->plan.answer.address = f->address;
}

void forge_end(struct forgery *f)
{
    mem_free(f->nests);
    mem_free(f->vars);
    mem_free(f->stays);
    mem_free(f->accesses);
    mem_free(f->transfers);
    mem_free(f->buffers);
    mem_free(f->address);
    mem_free(f->launches);
}

static int32_t forge_placed(struct forgery *f)
{
    int32_t n = f->plan.problem.count, from = forge_below(f, n);
    for (int32_t i = 0; i < n; i++)
        if (f->address[(from + i) % n] >= 0) return (from + i) % n;
    return -1;
}

static bool forge_tiles(struct forgery *f)
{
    struct lx_nest *n = forge_nest(f);
    int64_t *t = &n->tiles[forge_below(f, n->level_count)];
    int how = forge_below(f, 3);
    *t = how == 0 ? *t * 2 : how == 1 ? *t / 2 : *t + 1;
    return true;
}

static bool forge_var(struct forgery *f)
{
    struct lx_nest *n = forge_nest(f);
    signed char *v = &f->vars[1 + forge_below(f, n->last - n->first + 1)][forge_below(f, n->level_count)];
    *v = (signed char)(*v + 1 - 2 * forge_below(f, 2));
    return true;
}

static bool forge_all_vars(struct forgery *f)
{
    struct lx_nest *n = forge_nest(f);
    int level = forge_below(f, n->level_count), by = 1 - 2 * forge_below(f, 2);
    for (int32_t o = 0; o <= n->last - n->first; o++)
        f->vars[1 + o][level] = (signed char)(f->vars[1 + o][level] + by);
    return true;
}

static bool forge_border(struct forgery *f)
{
    struct lx_nest *n = forge_nest(f);
    int how = forge_below(f, 4);
    if (how == 0) n->first++, n->var++;
    if (how == 1) n->first--, n->var--;
    if (how == 2) n->last++;
    if (how == 3) n->last--;
    return true;
}

static bool forge_level(struct forgery *f)
{
    struct lx_nest *n = forge_nest(f);
    if (n->level_count < 2) n->level_count += 1 - 2 * forge_below(f, 2);
    for (int32_t o = 0; o <= n->last - n->first && n->level_count > 1; o++) {
        signed char keep = f->vars[1 + o][0];
        f->vars[1 + o][0] = f->vars[1 + o][1];
        f->vars[1 + o][1] = keep;
    }
    int64_t keep = n->tiles[0];
    n->tiles[0] = n->tiles[1];
    n->tiles[1] = keep;
    return true;
}

static bool forge_no_nest(struct forgery *f)
{
    int i = forge_below(f, f->plan.nest_count);
    memmove(&f->nests[i], &f->nests[i + 1], (size_t)(f->plan.nest_count - 1 - i) * sizeof *f->nests);
    f->plan.nest_count--;
    f->divisions.nest_count--;
    return true;
}

static bool forge_hold(struct forgery *f)
{
    int32_t b = forge_placed(f);
    if (b < 0) return false;
    int was = f->stays[b].hold;
    f->stays[b].hold = forge_below(f, 4);
    return f->stays[b].hold != was;
}

/* With the size that follows: no other figure has to be wrong. */
static bool forge_hold_and_size(struct forgery *f)
{
    int32_t b = forge_placed(f);
    if (b < 0 || f->stays[b].hold == 0) return false;
    const struct lx_nest *n = &f->nests[forge_below(f, f->plan.nest_count)];
    f->buffers[b].size *= n->tiles[f->stays[b].hold - 1];
    f->stays[b].hold--;
    return true;
}

static bool forge_life(struct forgery *f)
{
    int32_t b = forge_placed(f);
    if (b < 0) return false;
    *(forge_below(f, 2) ? &f->buffers[b].start : &f->buffers[b].end) += 1 - 2 * forge_below(f, 2);
    return true;
}

static bool forge_address(struct forgery *f)
{
    int32_t b = forge_placed(f);
    int64_t stick = f->plan.problem.alignment;
    if (b >= 0) f->address[b] = stick * forge_below(f, (int)(f->plan.problem.capacity / stick + 1));
    return b >= 0;
}

static bool forge_size(struct forgery *f)
{
    int32_t b = forge_placed(f);
    if (b >= 0) f->buffers[b].size = forge_below(f, 2) ? f->buffers[b].size * 2 : f->buffers[b].size / 2;
    return b >= 0;
}

static bool forge_view(struct forgery *f)
{
    int32_t b = forge_placed(f);
    if (b < 0) return false;
    f->stays[b].view_op = forge_below(f, f->plan.layouts->graph->op_count);
    return true;
}

static bool forge_no_copy(struct forgery *f)
{
    int i = forge_below(f, f->plan.transfer_count);
    if (f->plan.transfer_count == 0) return false;
    memmove(&f->transfers[i], &f->transfers[i + 1],
            (size_t)(f->plan.transfer_count - 1 - i) * sizeof *f->transfers);
    f->plan.transfer_count--;
    return true;
}

static bool forge_tick(struct forgery *f)
{
    int i = forge_below(f, f->plan.transfer_count);
    if (f->plan.transfer_count > 0) f->transfers[i].tick += 1 - 2 * forge_below(f, 2);
    return f->plan.transfer_count > 0;
}

static bool forge_kind(struct forgery *f)
{
    int i = forge_below(f, f->plan.transfer_count);
    if (f->plan.transfer_count == 0 || f->transfers[i].source >= 0) return false;
    f->transfers[i].kind = f->transfers[i].kind == LX_LOAD ? LX_STORE : LX_LOAD;
    return true;
}

/* A copy of what is placed, where there is room for one more. */
static bool forge_more_copies(struct forgery *f)
{
    int32_t b = forge_placed(f);
    if (b < 0) return false;
    int32_t at = 0, tick = (int32_t)f->buffers[b].start;
    while (at < f->plan.transfer_count && f->transfers[at].tick <= tick) at++;
    memmove(&f->transfers[at + 1], &f->transfers[at],
            (size_t)(f->plan.transfer_count - at) * sizeof *f->transfers);
    f->transfers[at] = (struct lx_transfer){forge_below(f, 2) ? LX_LOAD : LX_STORE, tick, b, -1, 0, 0};
    f->plan.transfer_count++;
    return true;
}

static bool forge_copied(struct forgery *f)
{
    int i = forge_below(f, f->plan.transfer_count);
    if (f->plan.transfer_count > 0) f->transfers[i].bytes += f->plan.problem.alignment;
    return f->plan.transfer_count > 0;
}

static bool forge_served(struct forgery *f)
{
    int32_t all = f->plan.access_at[f->plan.layouts->graph->op_count];
    struct lx_access *a = &f->accesses[forge_below(f, all)];
    if (a->stay < 0) return false;
    a->stay = forge_below(f, 2) ? -1 : forge_placed(f);
    return true;
}

static bool forge_bytes(struct forgery *f)
{
    int32_t all = f->plan.access_at[f->plan.layouts->graph->op_count];
    f->accesses[forge_below(f, all)].bytes += f->plan.problem.alignment;
    return true;
}

/* Where the tile of an iteration begins. */
static bool forge_offset(struct forgery *f)
{
    struct lx_nest *n = &f->nests[forge_below(f, f->plan.nest_count)];
    int32_t o = n->first + forge_below(f, n->last - n->first + 1);
    f->launch = *f->launches[o].launch;
    f->launches[o].launch = &f->launch;
    struct lx_launch_level *l = &f->launch.level[forge_below(f, f->launch.level_count)];
    int how = forge_below(f, 4);
    if (how == 0) l->step++;
    if (how == 1) l->tiles--;
    if (how == 2) l->var++;
    if (how == 3) f->launch.level_count--;
    return true;
}

const struct nest_forger forgeries[FORGERIES] = {
    {"tiles", forge_tiles, true},
    {"a variable", forge_var, true},
    {"all variables", forge_all_vars, false},
    {"a border", forge_border, true},
    {"levels", forge_level, true},
    {"the loops of a launch", forge_offset, true},
    {"no nest", forge_no_nest, true},
    {"a hold", forge_hold, false},
    {"a hold and its size", forge_hold_and_size, false},
    {"a life", forge_life, false},
    {"an address", forge_address, false},
    {"a size", forge_size, false},
    {"a view", forge_view, false},
    {"no copy", forge_no_copy, true},
    {"the tick of a copy", forge_tick, false},
    {"the kind of a copy", forge_kind, true},
    {"one copy more", forge_more_copies, true},
    {"bytes of a copy", forge_copied, true},
    {"who serves an access", forge_served, false},
    {"bytes of an access", forge_bytes, true},
};
