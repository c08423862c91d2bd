/* A graph under construction: three growing lists, sets of names and one arena that the finished graph takes
 * over. Names are checked when they are added, relations between tensors and ops in builder_finish. */
#include "graph/builder.h"
#include "base/users.h"
#include "graph/op_params.h"
#include "graph/op_walks.h"

static void graph_release(const void *g)
{
    lx_graph_free(g);
}

void builder_begin(struct graph_builder *b, const char *file, const char *name)
{
    *b = (struct graph_builder){0};
    b->memory = mem_zeroed(1, sizeof *b->memory);
    struct lx_graph *g = b->graph = arena_alloc(b->memory, sizeof *b->graph);
    g->memory = b->memory;
    g->users = users_new(b->memory, g, graph_release);
    g->file = arena_string(b->memory, file);
    g->name = arena_string(b->memory, name);
    g->summary = "";
    g->target_hbm_bytes = -1;
    g->device = *lx_device_at(0);
}

struct lx_list *builder_list(struct graph_builder *b)
{
    b->list = arena_alloc(b->memory, sizeof *b->list);
    *b->list = (struct lx_list){.objective = LX_SPILL, .capacity = -1, .alignment = 1};
    b->graph->list = b->list;
    return b->list;
}

static bool builder_add_name(struct graph_builder *b, struct names *names, const char *what, const char *name,
                             size_t number, lx_status *st)
{
    if (number >= LX_MAX_ITEMS)
        return builder_error(b, b->here, st, LX_E_LIMIT, "more than %d %ss; split the graph", LX_MAX_ITEMS,
                             what);
    if (!*name)
        return builder_error(b, b->here, st, LX_E_SCHEMA, "the name of a %s is empty; give it one", what);
    if (names_add(names, name, (int32_t)number) == NAMES_KNOWN)
        return builder_error(b, b->here, st, LX_E_DUPLICATE, "two %ss are named %s; rename one", what, name);
    return true;
}

/* Sets t->bytes: the bits of all elements, rounded up to whole bytes. */
static bool builder_tensor_bytes(const struct graph_builder *b, struct lx_tensor *t, lx_status *st)
{
    int64_t elements = 1, bits;
    for (int i = 0; i < t->rank; i++)
        if (!mul_i64(elements, t->shape[i], &elements))
            return builder_error(b, b->here, st, LX_E_RANGE, "tensor %s has more than 2^63 elements",
                                 t->name);
    if (!lx_dtype_size(t->dtype, elements, &bits) || ceil_div_i64(bits, 8) > LX_INT_MAX)
        return builder_error(b, b->here, st, LX_E_RANGE, "tensor %s is larger than 2^53 bytes", t->name);
    t->bytes = ceil_div_i64(bits, 8);
    return true;
}

bool builder_retype(struct graph_builder *b, int32_t tensor, enum lx_dtype dtype, lx_status *st)
{
    b->tensors.at[tensor].dtype = dtype;
    return builder_tensor_bytes(b, &b->tensors.at[tensor], st);
}

int32_t builder_tensor(struct graph_builder *b, const char *name, enum lx_role role, enum lx_dtype dtype,
                       int rank, const int64_t *shape, int64_t bytes, lx_status *st)
{
    struct lx_tensor t = {.name = arena_string(b->memory, name),
                          .role = role,
                          .dtype = dtype,
                          .rank = rank,
                          .bytes = bytes,
                          .line = b->here.line,
                          .column = b->here.column};
    if (!builder_add_name(b, &b->tensor_names, "tensor", t.name, b->tensors.count, st)) return -1;
    if (rank >= 0) {
        t.shape = arena_copy_array(b->memory, shape, (size_t)rank, sizeof *shape);
        if (!builder_tensor_bytes(b, &t, st)) return -1;
    }
    VEC_PUSH(&b->tensors, t);
    VEC_PUSH(&b->tensor_places, b->here);
    return (int32_t)b->tensors.count - 1;
}

bool builder_op(struct graph_builder *b, const struct lx_op *op, lx_status *st)
{
    struct lx_op copy = *op;
    copy.name = arena_string(b->memory, op->name);
    copy.line = b->here.line;
    if (op->has_value && op->whole == 0) whole_of_double(op->value, &copy.whole);
    copy.map = NULL;
    if (!builder_add_name(b, &b->op_names, "op", copy.name, b->ops.count, st)) return false;
    copy.inputs = arena_copy_array(b->memory, op->inputs, (size_t)op->input_count, sizeof *op->inputs);
    if (op->einsum) copy.einsum = arena_string(b->memory, op->einsum);
    bool several = op->output_count > 1;
    copy.output_count = several ? op->output_count : 1;
    copy.outputs = arena_copy_array(b->memory, several ? op->outputs : &op->output, (size_t)copy.output_count,
                                    sizeof *op->outputs);
    if (several) copy.output = op->outputs[0];
    if (!(op->kind->traits & LX_ALTERS)) copy.inplace = -1;
    int rank = copy.output >= 0 ? b->tensors.at[copy.output].rank : 0;
    if (op->input_count > 0 && b->tensors.at[op->inputs[0]].rank > rank)
        rank = b->tensors.at[op->inputs[0]].rank;
    if (op->offset)
        copy.offset = arena_copy_array(b->memory, op->offset, (size_t)max_i64(rank, 0), sizeof(int64_t));
    if (op->stride)
        copy.stride = arena_copy_array(b->memory, op->stride, (size_t)max_i64(rank, 0), sizeof(int64_t));
    copy.hints = arena_copy_array(b->memory, op->hints, (size_t)op->hint_count, sizeof *op->hints);
    copy.params = op_params_copy(b->memory, op->params);
    if (op->data)
        copy.data = op_data_copy(b->memory, op->data,
                                 copy.output >= 0 ? b->tensors.at[copy.output].dtype : LX_DTYPE_COUNT);
    builder_copy_windows(b, op, &copy);
    op_views_copy(b, op, &copy);
    struct op_places places = {b->here, b->here_einsum.line ? b->here_einsum : b->here};
    VEC_PUSH(&b->ops, copy);
    VEC_PUSH(&b->op_places, places);
    return true;
}

bool builder_buffer(struct graph_builder *b, const struct lx_buffer *buffer, lx_status *st)
{
    struct lx_buffer copy = *buffer;
    copy.name = arena_string(b->memory, buffer->name);
    copy.line = b->here.line;
    copy.column = b->here.column;
    if (!builder_add_name(b, &b->buffer_names, "buffer", copy.name, b->buffers.count, st)) return false;
    copy.uses = arena_copy_array(b->memory, buffer->uses, (size_t)buffer->use_count, sizeof *buffer->uses);
    copy.parents =
        arena_copy_array(b->memory, buffer->parents, (size_t)buffer->parent_count, sizeof *buffer->parents);
    if (buffer->reason) copy.reason = arena_string(b->memory, buffer->reason);
    /* Optional fields: lives with gaps, pools, costs of being placed. */
    size_t lives = (size_t)buffer->life_count, pools = (size_t)buffer->pool_count;
    if (buffer->lives) copy.lives = arena_copy_array(b->memory, buffer->lives, lives, sizeof *buffer->lives);
    if (buffer->pools) copy.pools = arena_copy_array(b->memory, buffer->pools, pools, sizeof *buffer->pools);
    if (buffer->on_costs)
        copy.on_costs = arena_copy_array(b->memory, buffer->on_costs, pools, sizeof *buffer->on_costs);
    VEC_PUSH(&b->buffers, copy);
    VEC_PUSH(&b->buffer_places, b->here);
    return true;
}

struct hashing {
    uint64_t hash;
    const struct record_taker *also;
};

static void hash_record(void *hashing, const struct lx_graph *g, const char *record, size_t length)
{
    struct hashing *h = hashing;
    h->hash = hash_bytes(h->hash, record, length);
    if (h->also) h->also->take(h->also->context, g, record, length);
}

/* Recomputes the hash; `also` may be NULL. */
static void graph_hash(struct lx_graph *g, const struct record_taker *also)
{
    SCOPED(text_free) struct text body = {0};
    struct hashing h = {HASH_START, also};
    pattern_write_body(g, &(struct record_taker){hash_record, &h}, &body);
    g->hash = h.hash;
    snprintf(g->hash_word, sizeof g->hash_word, "%016" PRIx64, g->hash);
}

void builder_abandon(struct graph_builder *b)
{
    VEC_FREE(&b->tensors);
    VEC_FREE(&b->tensor_places);
    VEC_FREE(&b->ops);
    VEC_FREE(&b->op_places);
    VEC_FREE(&b->buffers);
    VEC_FREE(&b->buffer_places);
    VEC_FREE(&b->buffer_ids);
    names_free(&b->tensor_names);
    names_free(&b->op_names);
    names_free(&b->buffer_names);
    if (b->memory) {
        arena_free(b->memory);
        mem_free(b->memory);
    }
    *b = (struct graph_builder){0};
}

const struct lx_graph *builder_finish(struct graph_builder *b, lx_status *st)
{
    struct lx_graph *g = b->graph;
    bool ok = builder_check_written(b, st); /* before maps are made for illegal outputs */
    for (size_t i = 0; i < b->ops.count && ok; i++) ok = builder_map_op(b, i, st);
    ok = ok && builder_check_order(b, st);
    if (ok) {
        g->tensors = arena_copy_array(b->memory, b->tensors.at, b->tensors.count, sizeof *b->tensors.at);
        g->ops = arena_copy_array(b->memory, b->ops.at, b->ops.count, sizeof *b->ops.at);
        g->tensor_count = (int32_t)b->tensors.count;
        g->op_count = (int32_t)b->ops.count;
        if (b->list) {
            b->list->buffers =
                arena_copy_array(b->memory, b->buffers.at, b->buffers.count, sizeof *b->buffers.at);
            b->list->buffer_count = (int32_t)b->buffers.count;
            /* Keep ids only if they are all different and not simply 0, 1, 2, ... */
            int64_t *ids = b->buffer_ids.at;
            size_t n = b->buffer_ids.count == b->buffers.count ? b->buffers.count : 0;
            const int64_t *kept = arena_copy_array(b->memory, ids, n, sizeof *ids);
            bool differ = true, plain = true;
            for (size_t i = 0; i < n; i++) plain &= ids[i] == (int64_t)i;
            if (n) qsort(ids, n, sizeof *ids, order_i64);
            for (size_t i = 1; i < n; i++) differ &= ids[i] != ids[i - 1];
            if (differ && !plain) b->list->buffer_ids = kept;
        }
        if (!b->unhashed) graph_hash(g, b->also);
    }
    if (ok) b->memory = NULL; /* now owned by the graph */
    builder_abandon(b);
    return ok ? g : NULL;
}

/* Ops that change part of an input (LX_ALTERS): dynamic_insert, scatter.
 *
 * A pattern names the changed input. In a graph such an op has only the other inputs, and keeps the rest of
 * its output, like an insert. If the result is another tensor than the changed input, a copy comes first. */

/* The index string without input `input`, which must be indexed like the result. NULL: see `st`. */
static const char *without_input(const struct op_check *c, int input)
{
    const char *einsum = c->op->einsum, *arrow = einsum ? strstr(einsum, "->") : NULL, *from = einsum;
    for (int i = 0; arrow && i < input; i++) {
        from += strcspn(from, ",-");
        if (*from++ != ',') arrow = NULL;
    }
    if (!arrow || from > arrow)
        return op_error(c, LX_E_EINSUM, " (%s) needs an \"einsum\" that says how its operands are indexed",
                        c->op->kind->name),
               NULL;
    const char *to = from + strcspn(from, ",-");
    if (strlen(arrow + 2) != (size_t)(to - from) || strncmp(arrow + 2, from, (size_t)(to - from)) != 0)
        return op_error(c, LX_E_EINSUM, ": %s must index the result as the input that is changed", einsum),
               NULL;
    char *copy = arena_format(c->b->memory, "%.*s%s", (int)(from - einsum), einsum, *to == ',' ? to + 1 : to);
    char *comma = strstr(copy, ",->"); /* the removed input was the last */
    if (comma && *to == '-') memmove(comma, comma + 1, strlen(comma));
    return copy;
}

bool builder_altering(struct graph_builder *b, const struct lx_op *op, lx_status *st)
{
    struct lx_op own = *op;
    const struct op_check c = {.b = b, .op = &own, .at = b->here, .st = st};
    int32_t inputs[LX_MAX_INPUTS];
    int changed = op->inplace >= 0 ? op->inplace : 0, n = 0;
    if (op->input_count < 2 || changed >= op->input_count)
        return op_error(&c, LX_E_SCHEMA,
                        ": %s takes what is changed, what goes into it and where, not %d inputs",
                        op->kind->name, op->input_count);
    int32_t from = op->inputs[changed];
    const char *einsum = without_input(&c, changed);
    if (!einsum) return false;
    if (from != op->output && op->inplace >= 0)
        return op_error(&c, LX_E_ROLE,
                        " works in place of %s, but its output is %s; name one tensor for both, or leave "
                        "\"inplace\" out",
                        b->tensors.at[from].name, b->tensors.at[op->output].name);
    if (from != op->output) {
        char name[300];
        snprintf(name, sizeof name, "%.280s/whole", op->name);
        struct lx_op copy = {.name = name,
                             .kind = lx_kind_at(LX_KIND_CLONE),
                             .input_count = 1,
                             .inputs = &from,
                             .output = op->output};
        if (!builder_op(b, &copy, st)) return false;
    }
    for (int i = 0; i < op->input_count; i++)
        if (i != changed) inputs[n++] = op->inputs[i];
    own.einsum = einsum;
    own.inputs = inputs;
    own.input_count = n;
    own.inplace = changed;
    return builder_op(b, &own, st);
}

/* --- Graphs are immutable and shared: a copy with another device, order or hints shares the rest. --- */

const struct lx_graph *lx_graph_ref(const struct lx_graph *g)
{
    if (g) users_add(g->users);
    return g;
}

void lx_graph_free(const struct lx_graph *g)
{
    if (!g || !users_remove(g->users)) return;
    const struct lx_graph *shared = g->sharing ? g->sharing : g->came_from;
    OWNED struct arena *memory = g->memory; /* also contains the graph */
    arena_free(memory);
    lx_graph_free(shared);
}

/* If `g` already shares all its parts, the copy refers to the owner of the parts, so chains of copies do not
 * grow. */
static struct lx_graph *share_graph_copy_of(const struct lx_graph *g)
{
    struct arena *memory = mem_zeroed(1, sizeof *memory);
    struct lx_graph *copy = arena_alloc(memory, sizeof *copy);
    struct users *users = users_new(memory, copy, graph_release);
    *copy = *g;
    copy->memory = memory;
    copy->users = users;
    const struct lx_graph *owner = g->sharing;
    bool owns_none = owner && g->ops == owner->ops && g->tensors == owner->tensors && g->list == owner->list;
    copy->sharing = lx_graph_ref(owns_none ? owner : g);
    return copy;
}

const struct lx_graph *lx_graph_with_device(const struct lx_graph *g, const struct lx_device *device)
{
    struct lx_graph *copy = share_graph_copy_of(g);
    copy->device = *device;
    graph_hash(copy, NULL);
    return copy;
}

const struct lx_graph *lx_graph_with_imported(const struct lx_graph *g, const struct lx_imported *facts)
{
    struct lx_graph *copy = share_graph_copy_of(g);
    copy->imported = *facts;
    return copy;
}

const struct lx_graph *graph_with_objective(const struct lx_graph *g, enum lx_objective objective)
{
    struct lx_graph *copy = share_graph_copy_of(g);
    struct lx_list *list = arena_copy_array(copy->memory, g->list, 1, sizeof *list);
    list->objective = objective;
    copy->list = list;
    graph_hash(copy, NULL);
    return copy;
}

const struct lx_graph *lx_graph_with_capacity(const struct lx_graph *g, int64_t usable_bytes, lx_status *st)
{
    struct lx_device device = g->device;
    if (lx_graph_pools(g) > 1)
        return status_set_at(st, LX_E_USAGE, g->file, 0, 0,
                             "this list has %d pools with capacities of their own; change them in the file",
                             (int)lx_graph_pools(g)),
               NULL;
    if (!lx_device_set(&device, lx_device_parameter_find("lx_usable_bytes"), (double)usable_bytes, st))
        return NULL;
    struct lx_graph *copy = share_graph_copy_of(g);
    copy->device = device;
    if (g->list) {
        struct lx_list *list = arena_copy_array(copy->memory, g->list, 1, sizeof *list);
        list->capacity = usable_bytes;
        /* with a capacity, buffers that do not fit are spilled */
        if (list->objective == LX_HEIGHT) list->objective = LX_SPILL;
        if (list->pool_count) {
            struct lx_pool *pool = arena_copy_array(copy->memory, list->pools, 1, sizeof *pool);
            pool->capacity = usable_bytes;
            list->pools = pool;
        }
        copy->list = list;
    }
    graph_hash(copy, NULL);
    return copy;
}

const struct lx_graph *lx_graph_with_places(const struct lx_graph *g, const int64_t *address,
                                            const int32_t *pool)
{
    struct lx_graph *copy = share_graph_copy_of(g);
    struct lx_list *list = arena_copy_array(copy->memory, g->list, 1, sizeof *list);
    size_t n = (size_t)list->buffer_count;
    struct lx_buffer *buffers = arena_copy_array(copy->memory, list->buffers, n, sizeof *buffers);
    for (size_t i = 0; i < n && list->pins_are_places; i++) buffers[i].fixed = -1;
    list->buffers = buffers;
    if (address) list->address = arena_copy_array(copy->memory, address, n, sizeof *address);
    if (address) list->address_pool = pool ? arena_copy_array(copy->memory, pool, n, sizeof *pool) : NULL;
    copy->list = list;
    graph_hash(copy, NULL);
    return copy;
}

const struct lx_graph *lx_graph_with_hints(const struct lx_graph *g, int32_t op,
                                           const struct lx_split_hint *hints, int count)
{
    struct lx_graph *copy = share_graph_copy_of(g);
    struct lx_op *ops = arena_copy_array(copy->memory, g->ops, (size_t)g->op_count, sizeof *ops);
    ops[op].hints = arena_copy_array(copy->memory, hints, (size_t)count, sizeof *hints);
    ops[op].hint_count = count;
    copy->ops = ops;
    graph_hash(copy, NULL);
    return copy;
}

const struct lx_graph *lx_graph_with_memory(const struct lx_graph *g, int32_t i, enum lx_memory memory)
{
    struct lx_graph *copy = share_graph_copy_of(g);
    if (g->list) {
        struct lx_list *list = arena_copy_array(copy->memory, g->list, 1, sizeof *list);
        struct lx_buffer *buffers =
            arena_copy_array(copy->memory, list->buffers, (size_t)list->buffer_count, sizeof *buffers);
        buffers[i].must = memory == LX_MEMORY_LX;
        if (buffers[i].must) buffers[i].spill_cost = 0; /* as patterns have it */
        if (memory == LX_MEMORY_HBM) buffers[i].reason = "a hint says hbm";
        list->buffers = buffers;
        copy->list = list;
    } else {
        struct lx_tensor *tensors =
            arena_copy_array(copy->memory, g->tensors, (size_t)g->tensor_count, sizeof *tensors);
        tensors[i].memory = (int8_t)(1 + memory);
        copy->tensors = tensors;
    }
    graph_hash(copy, NULL);
    return copy;
}

const struct lx_graph *graph_with_order(const struct lx_graph *g, const int32_t *order)
{
    struct lx_graph *copy = share_graph_copy_of(g);
    struct lx_op *ops = arena_array(copy->memory, (size_t)g->op_count, sizeof *ops);
    for (int32_t t = 0; t < g->op_count; t++) ops[t] = g->ops[order[t]];
    copy->ops = ops;
    return copy;
}
