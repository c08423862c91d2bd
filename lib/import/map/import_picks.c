/* Ops that pick positions along several dimensions: gathers and scatters of HLO and TTIR. A form states which
 * dimensions of a table the index addresses, which of these the moved tensor lacks, and which it shares with
 * the index. An op moves all of an unaddressed dimension, one position of each addressed one. */
#include "import/map/import_steps.h"

struct list {
    const int64_t *at;
    int count;
};

/* The op being mapped; dimensions of its three tensors as dimensions of the op. */
struct picks {
    struct list window; /* dimensions of the moved tensor that correspond to table dimensions, in order */
    struct list gone;   /* table dimensions that it lacks */
    struct list map;    /* table dimension of each index component */
    struct list batch, index_batch; /* dimensions that table and index share */
    int64_t vector;                 /* the index dimension of components; the index's rank: none */
    struct import_value table, index;
    const struct model_type *moved;
    struct choosing c;
    int of_table[VIEW_MAX_RANK], of_index[VIEW_MAX_RANK], of_moved[VIEW_MAX_RANK];
    int first, kept; /* the needed components of the index */
};

static bool pick_listed(const struct list *l, int64_t d)
{
    for (int i = 0; i < l->count; i++)
        if (l->at[i] == d) return true;
    return false;
}

/* Reads the attributes of a gather or scatter. */
static struct picks pick_begin(struct import *im, const struct model_op *op, const char *ours, bool scatter)
{
    static const char *const keys[2][5] = {{"offset_dims", "collapsed_slice_dims", "start_index_map",
                                            "operand_batching_dims", "start_indices_batching_dims"},
                                           {"update_window_dims", "inserted_window_dims",
                                            "scatter_dims_to_operand_dims", "input_batching_dims",
                                            "scatter_indices_batching_dims"}};
    struct picks p = {.c.kind = ours, .table = *import_in(im, op, 0), .index = *import_in(im, op, 1)};
    struct list *lists[] = {&p.window, &p.gone, &p.map, &p.batch, &p.index_batch};
    for (int i = 0; i < 5; i++)
        lists[i]->at = model_attr_ints(&op->attrs, keys[scatter][i], &lists[i]->count);
    p.vector = model_attr_int(&op->attrs, "index_vector_dim", p.index.type->count);
    p.moved = scatter ? import_in(im, op, 2)->type : import_type_out(im, op);
    return p;
}

/* Do the lists fit the tensors? Dimensions with one element drop their component, except in a scatter, which
 * skips indices outside. The needed components must be adjacent. */
static bool pick_fits(struct picks *p)
{
    const struct model_type *t = p->table.type;
    int index = p->index.type->count;
    bool gathers = strcmp(p->c.kind, "gather") == 0,
         ok = p->map.count <= LX_MAX_RANK && p->batch.count == p->index_batch.count &&
              p->window.count + p->gone.count + p->batch.count == t->count && p->vector >= 0 &&
              (p->vector < index ? p->index.type->extent[p->vector] == p->map.count : p->map.count == 1);
    for (int i = 0; ok && i < p->gone.count; i++) /* a dropped, unaddressed dimension has one element */
        ok = p->gone.at[i] >= 0 && p->gone.at[i] < t->count &&
             (pick_listed(&p->map, p->gone.at[i]) || t->extent[p->gone.at[i]] == 1);
    for (int i = 0; ok && i < p->map.count; i++) {
        int64_t d = p->map.at[i];
        ok = d >= 0 && d < t->count && (gathers || t->extent[d] > 1);
        if (!ok || t->extent[d] < 2) continue;
        if (p->kept == 0) p->first = i;
        ok = i == p->first + p->kept++;
    }
    return ok && p->kept > 0;
}

/* Moves the component dimension of the index last and keeps only the needed components. */
static bool pick_turn_index(struct import *im, const struct model_op *op, struct picks *p)
{
    struct import_value *v = &p->index;
    int rank = v->type->count, n = 0;
    int64_t perm[VIEW_MAX_RANK], extent[VIEW_MAX_RANK];
    struct view part, turned;
    import_stored(im, v);
    if (p->vector >= rank) return true;
    for (int d = 0; d < rank; d++)
        if (d != p->vector) perm[n++] = d;
    perm[n] = p->vector;
    for (int d = 0; d < rank; d++) extent[d] = d + 1 < rank ? v->type->extent[perm[d]] : p->kept;
    if (p->kept < p->map.count) {
        if (view_is_part(&v->view)) import_plain(im, v, op);
        if (!view_slice(&v->view, (int)p->vector, p->first, 1, p->kept, &part)) return false;
        v->view = part;
    }
    if (!view_permute(&v->view, perm, &turned)) return false;
    v->view = turned;
    v->type = import_type(im, v->type->element, rank, extent);
    if (p->kept > 1) import_plain(im, v, op);
    return true;
}

/* Maps dimensions of the index; shared ones are the table's. */
static bool pick_index_dims(struct picks *p)
{
    const struct model_type *t = p->index.type;
    int last = p->vector < t->count ? t->count - 1 : -1;
    for (int d = 0; d < t->count; d++) {
        p->of_index[d] = d == last && p->kept == 1 ? -1 : choose_dim(&p->c, t->extent[d]);
        if (d == last && p->of_index[d] >= 0) p->c.whole |= 1u << p->of_index[d];
    }
    for (int i = 0; i < p->index_batch.count; i++) {
        int64_t from = p->batch.at[i], d = p->index_batch.at[i];
        if (d > p->vector) d--;
        if (d < 0 || d >= t->count || d == last || from < 0 || from >= p->table.type->count ||
            t->extent[d] != p->table.type->extent[from])
            return false;
        p->of_index[d] = p->of_table[from];
    }
    return true;
}

/* Maps dimensions of the moved tensor: the index's, or windows of the table's, which have one element if
 * addressed. */
static bool pick_moved_dims(struct picks *p)
{
    int next = 0, next_index = 0;
    const struct model_type *index = p->index.type, *table = p->table.type;
    int index_count = p->vector < index->count ? index->count - 1 : index->count;
    for (int d = 0; d < p->moved->count; d++) {
        if (!pick_listed(&p->window, d)) {
            if (next_index == index_count || p->moved->extent[d] != index->extent[next_index]) return false;
            p->of_moved[d] = p->of_index[next_index++];
            continue;
        }
        while (next < table->count && (pick_listed(&p->gone, next) || pick_listed(&p->batch, next))) next++;
        if (next == table->count) return false;
        bool named = pick_listed(&p->map, next) && table->extent[next] > 1;
        p->of_moved[d] = named ? -1 : p->of_table[next];
        if (p->moved->extent[d] != (named ? 1 : table->extent[next])) return false;
        next++;
    }
    return next_index == index_count;
}

/* Sets dimensions and operands of the op; false: it cannot be mapped. */
static bool pick_arrange(struct import *im, const struct model_op *op, struct picks *p)
{
    if (!pick_fits(p) || !pick_turn_index(im, op, p)) return false;
    for (int d = 0; d < p->table.type->count; d++)
        p->of_table[d] = choose_dim(&p->c, p->table.type->extent[d]);
    if (!pick_index_dims(p) || !pick_moved_dims(p)) return false;
    for (int i = 0; i < p->kept; i++) choose_along(&p->c, p->of_table[p->map.at[p->first + i]]);
    choose_operand(&p->c, &p->table, p->of_table);
    choose_operand(&p->c, &p->index, p->of_index);
    return true;
}

bool map_gather(struct import *im, const struct model_op *op, const char *ours)
{
    struct picks p = pick_begin(im, op, ours, false);
    int sizes;
    model_attr_ints(&op->attrs, "slice_sizes", &sizes);
    if (sizes != p.table.type->count) return import_generic(im, op, "schema");
    if (!pick_arrange(im, op, &p)) return import_generic(im, op, "form");
    return choose_finish(im, op, &p.c, p.moved, p.of_moved);
}

bool map_scatter(struct import *im, const struct model_op *op, const char *ours)
{
    if (op->operand_count != 3) return import_generic(im, op, "form");
    struct picks p = pick_begin(im, op, ours, true);
    struct import_value part = *import_in(im, op, 2);
    const struct model_body *b = op->body_count == 1 ? &im->m->bodies.at[op->bodies[0]] : NULL;
    const struct reducer *r = import_reducer(im, op);
    bool replaces = b && b->argument_count == 2 && b->result_count == 1 && b->results[0] == b->arguments[1];
    if (!pick_arrange(im, op, &p)) return import_generic(im, op, "form");
    if (!r && !replaces) return import_generic(im, op, "reducer");
    p.c.combine = replaces ? LX_COMBINE_REPLACE : r->combine;
    choose_operand(&p.c, &part, p.of_moved);
    return choose_finish(im, op, &p.c, import_type_out(im, op), p.of_table);
}
