/* The lists of a result: buffers, ops, transfers and faults, each with its numbers and words as rows. */
#include "api/joint_result.h"
#include "api/api_team.h"

#include <string.h>

struct number_row {
    const char *name;
    double (*get)(const lx_result *r, int64_t i);
};

struct word_row {
    const char *name;
    const char *(*get)(const lx_result *r, int64_t i);
};

/* --- Buffers. --- */

static int64_t buffer_count(const lx_result *r)
{
    return r->plan->problem.count;
}

static const struct lx_buffer *result_lists_buffer_at(const lx_result *r, int64_t i)
{
    return &r->plan->problem.buffers[i];
}

static int32_t result_lists_pool_of(const struct lx_plan *p, int64_t i)
{
    if (p->answer.address[i] < 0) return -1;
    return p->answer.pool ? p->answer.pool[i] : 0;
}

static double buffer_size(const lx_result *r, int64_t i)
{
    return (double)result_lists_buffer_at(r, i)->size;
}

static double buffer_start(const lx_result *r, int64_t i)
{
    return (double)result_lists_buffer_at(r, i)->start;
}

static double buffer_end(const lx_result *r, int64_t i)
{
    return (double)result_lists_buffer_at(r, i)->end;
}

static double buffer_cost(const lx_result *r, int64_t i)
{
    return (double)result_lists_buffer_at(r, i)->spill_cost;
}

static double buffer_pool(const lx_result *r, int64_t i)
{
    return result_lists_pool_of(r->plan, i);
}

static double buffer_address(const lx_result *r, int64_t i)
{
    return (double)r->plan->answer.address[i];
}

static double buffer_in_place_of(const lx_result *r, int64_t i)
{
    return r->plan->took_slot_of ? r->plan->took_slot_of[i] : -1;
}

static const char *result_lists_buffer_name(const lx_result *r, int64_t i)
{
    return result_lists_buffer_at(r, i)->name;
}

static const char *buffer_reason(const lx_result *r, int64_t i)
{
    const char *reason = r->plan->reason ? r->plan->reason[i] : NULL;
    return reason ? reason : "";
}

static const char *buffer_pool_name(const lx_result *r, int64_t i)
{
    const struct lx_problem *p = &r->plan->problem;
    int32_t pool = result_lists_pool_of(r->plan, i);
    if (pool < 0) return "";
    return p->pool_count ? p->pools[pool].name : r->pool_name ? r->pool_name : "LX";
}

static const char *buffer_parent_name(const lx_result *r, int64_t i)
{
    int32_t parent = r->plan->took_slot_of ? r->plan->took_slot_of[i] : -1;
    return parent >= 0 ? result_lists_buffer_name(r, parent) : "";
}

/* That the caller's file knows it by. */
static double buffer_id(const lx_result *r, int64_t i)
{
    const struct lx_list *list = r->plan->graph->list;
    return list && list->buffer_ids ? (double)list->buffer_ids[i] : (double)i;
}

static const struct number_row buffer_numbers[] = {{"size", buffer_size},
                                                   {"start", buffer_start},
                                                   {"end", buffer_end},
                                                   {"cost", buffer_cost},
                                                   {"pool", buffer_pool},
                                                   {"address", buffer_address},
                                                   {"in_place_of", buffer_in_place_of},
                                                   {"id", buffer_id},
                                                   {NULL, NULL}};
static const struct word_row buffer_words[] = {{"name", result_lists_buffer_name},
                                               {"reason", buffer_reason},
                                               {"pool", buffer_pool_name},
                                               {"in_place_of", buffer_parent_name},
                                               {NULL, NULL}};

/* --- Ops. --- */

static int64_t op_count(const lx_result *r)
{
    return r->plan->layouts ? r->plan->layouts->graph->op_count : 0;
}

static const struct lx_op *result_lists_op_at(const lx_result *r, int64_t i)
{
    return &r->plan->layouts->graph->ops[i];
}

#define OP_FIGURE(name, field)                                                                               \
    static double name(const lx_result *r, int64_t i)                                                        \
    {                                                                                                        \
        return (double)r->plan->traffic[i].field;                                                            \
    }
OP_FIGURE(op_cores, cores)
OP_FIGURE(op_hbm_read, hbm_read)
OP_FIGURE(op_hbm_written, hbm_written)
OP_FIGURE(op_ring, ring)
OP_FIGURE(op_reduce_ring, reduce_ring)
OP_FIGURE(op_device_us, device_us)
OP_FIGURE(op_us, end_to_end_us)

static double op_traffic(const lx_result *r, int64_t i)
{
    return op_hbm_read(r, i) + op_hbm_written(r, i);
}

static const char *result_lists_op_name(const lx_result *r, int64_t i)
{
    return result_lists_op_at(r, i)->name;
}

static const char *op_kind(const lx_result *r, int64_t i)
{
    return result_lists_op_at(r, i)->kind->name;
}

static const char *op_splits(const lx_result *r, int64_t i)
{
    return r->splits[i];
}

static const struct number_row op_numbers[] = {{"cores", op_cores},
                                               {"traffic", op_traffic},
                                               {"hbm_read", op_hbm_read},
                                               {"hbm_written", op_hbm_written},
                                               {"ring", op_ring},
                                               {"reduce_ring", op_reduce_ring},
                                               {"device_us", op_device_us},
                                               {"us", op_us},
                                               {NULL, NULL}};
static const struct word_row op_words[] = {
    {"name", result_lists_op_name}, {"kind", op_kind}, {"splits", op_splits}, {NULL, NULL}};

/* --- Transfers. --- */

static int64_t transfer_count(const lx_result *r)
{
    return r->plan->transfer_count;
}

#define TRANSFER_FIGURE(name, field)                                                                         \
    static double name(const lx_result *r, int64_t i)                                                        \
    {                                                                                                        \
        return (double)r->plan->transfers[i].field;                                                          \
    }
TRANSFER_FIGURE(transfer_tick, tick)
TRANSFER_FIGURE(transfer_bytes, bytes)
TRANSFER_FIGURE(transfer_buffer, stay)
TRANSFER_FIGURE(transfer_source, source)

static const char *transfer_kind(const lx_result *r, int64_t i)
{
    return lx_transfer_word(r->plan->transfers[i].kind);
}

static const char *transfer_name(const lx_result *r, int64_t i)
{
    return result_lists_buffer_name(r, r->plan->transfers[i].stay);
}

static const struct number_row transfer_numbers[] = {{"tick", transfer_tick},
                                                     {"bytes", transfer_bytes},
                                                     {"buffer", transfer_buffer},
                                                     {"source", transfer_source},
                                                     {NULL, NULL}};
static const struct word_row transfer_words[] = {
    {"kind", transfer_kind}, {"buffer", transfer_name}, {NULL, NULL}};

/* --- Faults of a run: those that are kept. --- */

static int64_t fault_count(const lx_result *r)
{
    if (!r->run) return 0;
    return r->run->fault_count < LX_MAX_FAULTS ? r->run->fault_count : LX_MAX_FAULTS;
}

#define FAULT_FIGURE(name, field)                                                                            \
    static double name(const lx_result *r, int64_t i)                                                        \
    {                                                                                                        \
        return (double)r->run->faults[i].field;                                                              \
    }
FAULT_FIGURE(fault_tick, tick)
FAULT_FIGURE(fault_core, core)
FAULT_FIGURE(fault_address, address)
FAULT_FIGURE(fault_sticks, sticks)

static const char *fault_kind(const lx_result *r, int64_t i)
{
    return lx_fault_word(r->run->faults[i].kind);
}

static const char *fault_text(const lx_result *r, int64_t i)
{
    return r->run->faults[i].text;
}

static const struct number_row fault_numbers[] = {{"tick", fault_tick},
                                                  {"core", fault_core},
                                                  {"address", fault_address},
                                                  {"sticks", fault_sticks},
                                                  {NULL, NULL}};
static const struct word_row fault_words[] = {{"kind", fault_kind}, {"text", fault_text}, {NULL, NULL}};

/* --- All of them. --- */

static const struct list {
    const char *name;
    int64_t (*count)(const lx_result *r);
    const struct number_row *numbers;
    const struct word_row *words;
} lists[] = {
    {"buffers", buffer_count, buffer_numbers, buffer_words},
    {"ops", op_count, op_numbers, op_words},
    {"transfers", transfer_count, transfer_numbers, transfer_words},
    {"faults", fault_count, fault_numbers, fault_words},
};

static const struct list *result_lists_list_of(const lx_result *r, const char *name)
{
    for (size_t i = 0; r && r->plan && name && i < sizeof lists / sizeof *lists; i++)
        if (strcmp(lists[i].name, name) == 0) return &lists[i];
    return NULL;
}

/* Number `i` of the only list that a joint answer has? */
static bool is_joint_item(const lx_result *r, const char *list, int64_t i, const char *name)
{
    return r && r->joint && list && name && strcmp(list, "buffers") == 0 && i >= 0 && i < r->joint->count;
}

int64_t lx_result_count(const lx_result *r, const char *list)
{
    if (r && r->joint && list && strcmp(list, "buffers") == 0) return r->joint->count;
    if (r && r->team && list) return team_count(r->team, list);
    const struct list *l = result_lists_list_of(r, list);
    return l ? l->count(r) : -1;
}

int32_t lx_result_item_number(const lx_result *r, const char *list, int64_t i, const char *name,
                              double *value)
{
    if (is_joint_item(r, list, i, name)) return joint_item_number(r->joint, i, name, value);
    if (r && r->team && list && name) return team_item_number(r->team, list, i, name, value);
    const struct list *l = result_lists_list_of(r, list);
    if (!l || !name || i < 0 || i >= l->count(r)) return -1;
    for (const struct number_row *row = l->numbers; row->name; row++)
        if (strcmp(row->name, name) == 0) {
            if (value) *value = row->get(r, i);
            return 0;
        }
    return -1;
}

const char *lx_result_item_word(const lx_result *r, const char *list, int64_t i, const char *name)
{
    if (is_joint_item(r, list, i, name)) return joint_item_word(r->joint, i, name);
    const struct list *l = result_lists_list_of(r, list);
    if (!l || !name || i < 0 || i >= l->count(r)) return NULL;
    for (const struct word_row *row = l->words; row->name; row++)
        if (strcmp(row->name, name) == 0) return row->get(r, i);
    return NULL;
}

static int32_t joint_places(const struct joint_result *j, int32_t *pools, int64_t *addresses, int32_t count)
{
    for (int32_t i = 0; i < count && i < j->count; i++) {
        if (pools) pools[i] = j->items[i].address >= 0 ? 0 : -1;
        if (addresses) addresses[i] = j->items[i].address;
    }
    return j->count;
}

int32_t lx_result_places(const lx_result *r, int32_t *pools, int64_t *addresses, int32_t count)
{
    if (r && r->joint) return joint_places(r->joint, pools, addresses, count);
    if (!r || !r->plan) return -1;
    for (int32_t i = 0; i < count && i < r->plan->problem.count; i++) {
        if (pools) pools[i] = result_lists_pool_of(r->plan, i);
        if (addresses) addresses[i] = r->plan->answer.address[i];
    }
    return r->plan->problem.count;
}
