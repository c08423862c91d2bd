/* Ops of the table that pick positions along several dimensions: gathers and scatters of HLO and TTIR, and
 * those of ONNX.
 *
 * A form says which dimensions of a table the index names, which of them the moved tensor lacks, and which
 * it shares with the index. All of a dimension that is not named is moved, one position of each that is. */
#include "import/map/import_choose.h"

#include <string.h>

struct list {
    const int64_t *at;
    int count;
};

struct form {
    struct list window; /* dimensions of the moved tensor that stand for dimensions of the table, in order */
    struct list gone;   /* dimensions of the table that it lacks */
    struct list map;    /* dimensions of the table by component of an index */
    struct list batch, index_batch; /* dimensions that table and index share */
    int64_t vector;                 /* the dimension of the index that counts components; its rank: none */
    bool clamps;                    /* an index outside is moved inside: dimensions of 1 need none */
};

static bool pick_listed(const struct list *l, int64_t d)
{
    for (int i = 0; i < l->count; i++)
        if (l->at[i] == d) return true;
    return false;
}

static struct list pick_list_of(const struct model_op *op, const char *key)
{
    struct list l;
    l.at = model_attr_ints(&op->attrs, key, &l.count);
    return l;
}

/* What is being mapped, dimensions of the three tensors as dimensions of the op. */
struct picks {
    struct form form;
    struct import_value table, index;
    const struct model_type *moved;
    struct choosing c;
    int of_table[VIEW_MAX_RANK], of_index[VIEW_MAX_RANK], of_moved[VIEW_MAX_RANK];
    int first, kept; /* components of the index that are needed */
};

/* Dimensions in which nothing is to be chosen have no component: those that are needed must stand
 * together. */
static bool pick_find_components(struct picks *p)
{
    const struct model_type *t = p->table.type;
    p->first = p->kept = 0;
    for (int i = 0; i < p->form.map.count; i++) {
        int64_t d = p->form.map.at[i];
        if (d < 0 || d >= t->count) return false;
        if (t->extent[d] < 2) {
            if (!p->form.clamps) return false;
            continue;
        }
        if (p->kept == 0) p->first = i;
        if (i != p->first + p->kept++) return false;
    }
    return p->kept > 0;
}

/* The index with the dimension that counts components behind all others, and only those that are needed. */
static bool pick_turn_index(struct import *im, const struct model_op *op, struct picks *p)
{
    struct import_value *v = &p->index;
    int rank = v->type->count, n = 0;
    int64_t perm[VIEW_MAX_RANK], extent[VIEW_MAX_RANK];
    struct view part, turned;
    if (!import_stored(im, v)) return false;
    if (p->form.vector >= rank) return true;
    for (int d = 0; d < rank; d++)
        if (d != p->form.vector) perm[n++] = d;
    perm[n] = p->form.vector;
    for (int d = 0; d < rank; d++) extent[d] = d + 1 < rank ? v->type->extent[perm[d]] : p->kept;
    if (p->kept < p->form.map.count) {
        if (view_is_part(&v->view) && !import_plain(im, v, op)) return false;
        if (!view_slice(&v->view, (int)p->form.vector, p->first, 1, p->kept, &part)) return false;
        v->view = part;
    }
    if (!view_permute(&v->view, perm, &turned)) return false;
    v->view = turned;
    v->type = import_type(im, v->type->element, rank, extent);
    return v->type && (p->kept == 1 || import_plain(im, v, op));
}

/* Dimensions of the index: shared ones are those of the table. */
static bool pick_index_dims(struct picks *p)
{
    const struct model_type *t = p->index.type;
    int last = p->form.vector < t->count ? t->count - 1 : -1;
    for (int d = 0; d < t->count; d++) {
        p->of_index[d] = d == last && p->kept == 1 ? -1 : choose_dim(&p->c, t->extent[d]);
        if (d == last && p->kept > 1) p->c.whole[p->c.whole_count++] = p->of_index[d];
    }
    for (int i = 0; i < p->form.index_batch.count; i++) {
        int64_t from = p->form.batch.at[i], d = p->form.index_batch.at[i];
        if (d > p->form.vector) d--;
        if (d < 0 || d >= t->count || d == last || from < 0 || from >= p->table.type->count ||
            t->extent[d] != p->table.type->extent[from])
            return false;
        p->of_index[d] = p->of_table[from];
    }
    return true;
}

/* One dimension of the moved tensor that stands for dimension `d` of the table. */
static bool pick_window_dim(struct picks *p, int at, int d)
{
    int64_t size = p->moved->extent[at], extent = p->table.type->extent[d];
    bool named = pick_listed(&p->form.map, d) && extent > 1;
    p->of_moved[at] = named ? -1 : p->of_table[d];
    return size == (named ? 1 : extent);
}

static bool pick_moved_dims(struct picks *p)
{
    int next = 0, next_index = 0;
    const struct model_type *index = p->index.type, *table = p->table.type;
    int index_count = p->form.vector < index->count ? index->count - 1 : index->count;
    for (int d = 0; d < p->moved->count; d++) {
        if (pick_listed(&p->form.window, d)) {
            while (next < table->count &&
                   (pick_listed(&p->form.gone, next) || pick_listed(&p->form.batch, next)))
                next++;
            if (next == table->count || !pick_window_dim(p, d, next++)) return false;
        } else {
            if (next_index == index_count || p->moved->extent[d] != index->extent[next_index]) return false;
            p->of_moved[d] = p->of_index[next_index++];
        }
    }
    return next_index == index_count;
}

static bool pick_ranks_fit(const struct picks *p)
{
    const struct form *f = &p->form;
    int rank = p->table.type->count, index = p->index.type->count;
    bool ok = rank <= VIEW_MAX_RANK && index <= VIEW_MAX_RANK && p->moved->count <= VIEW_MAX_RANK &&
              f->map.count > 0 && f->map.count <= LX_MAX_RANK && f->batch.count == f->index_batch.count &&
              f->window.count + f->gone.count + f->batch.count == rank && f->vector >= 0 &&
              (f->vector < index ? p->index.type->extent[f->vector] == f->map.count : f->map.count == 1);
    for (int i = 0; ok && i < f->gone.count; i++) /* what goes and is not named is of one element */
        ok = f->gone.at[i] >= 0 && f->gone.at[i] < rank &&
             (pick_listed(&f->map, f->gone.at[i]) || p->table.type->extent[f->gone.at[i]] == 1);
    return ok;
}

/* *fits: the op can be mapped. False: `im->st` says why not. */
static bool pick_arrange(struct import *im, const struct model_op *op, struct picks *p, bool *fits)
{
    *fits = pick_ranks_fit(p) && pick_find_components(p);
    if (!*fits) return true;
    if (!pick_turn_index(im, op, p)) return *fits = false, im->st->code == LX_OK;
    for (int d = 0; d < p->table.type->count; d++)
        p->of_table[d] = choose_dim(&p->c, p->table.type->extent[d]);
    *fits = pick_index_dims(p) && pick_moved_dims(p);
    for (int i = 0; i < p->kept; i++) choose_along(&p->c, p->of_table[p->form.map.at[p->first + i]]);
    return true;
}

static bool pick_gather(struct import *im, const struct model_op *op, struct picks *p)
{
    bool fits;
    p->moved = import_type_out(im, op);
    p->c.kind = "gather";
    p->form.clamps = true;
    if (!pick_arrange(im, op, p, &fits)) return false;
    if (!fits) return import_generic(im, op, "form");
    choose_operand(&p->c, &p->table, p->of_table);
    choose_operand(&p->c, &p->index, p->of_index);
    return choose_finish(im, op, &p->c, p->moved, p->of_moved);
}

static bool pick_scatter(struct import *im, const struct model_op *op, struct picks *p,
                         enum lx_combine combine)
{
    struct import_value part = *import_in(im, op, 2);
    bool fits;
    p->moved = part.type;
    p->c.kind = "scatter";
    p->c.combine = combine;
    if (!pick_arrange(im, op, p, &fits)) return false;
    if (!fits || combine == LX_COMBINE_COUNT) return import_generic(im, op, fits ? "reducer" : "form");
    choose_operand(&p->c, &p->table, p->of_table);
    choose_operand(&p->c, &p->index, p->of_index);
    choose_operand(&p->c, &part, p->of_moved);
    return choose_finish(im, op, &p->c, import_type_out(im, op), p->of_table);
}

static struct picks pick_picks_of(struct import *im, const struct model_op *op)
{
    return (struct picks){.table = *import_in(im, op, 0), .index = *import_in(im, op, 1)};
}

bool map_gather(struct import *im, const struct model_op *op, const char *ours)
{
    struct picks p = pick_picks_of(im, op);
    struct list sizes = pick_list_of(op, "slice_sizes");
    (void)ours;
    p.form = (struct form){.window = pick_list_of(op, "offset_dims"),
                           .gone = pick_list_of(op, "collapsed_slice_dims"),
                           .map = pick_list_of(op, "start_index_map"),
                           .batch = pick_list_of(op, "operand_batching_dims"),
                           .index_batch = pick_list_of(op, "start_indices_batching_dims"),
                           .vector = model_attr_int(&op->attrs, "index_vector_dim", p.index.type->count)};
    if (sizes.count != p.table.type->count) return import_generic(im, op, "schema");
    return pick_gather(im, op, &p);
}

/* How the computation of a scatter, or a word of ONNX, combines; LX_COMBINE_COUNT: in no way that we know. */
static enum lx_combine pick_combine_of(const char *word, bool logical)
{
    static const struct {
        const char *word;
        enum lx_combine combine;
        bool logical; /* of truth values only */
    } rows[] = {
        {"none", LX_COMBINE_REPLACE, false}, {"add", LX_COMBINE_ADD, false},  {"sum", LX_COMBINE_ADD, false},
        {"mul", LX_COMBINE_MUL, false},      {"prod", LX_COMBINE_MUL, false}, {"max", LX_COMBINE_MAX, false},
        {"min", LX_COMBINE_MIN, false},      {"any", LX_COMBINE_MAX, true},   {"all", LX_COMBINE_MIN, true}};
    for (size_t i = 0; word && i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].word, word) == 0 && (logical || !rows[i].logical)) return rows[i].combine;
    return LX_COMBINE_COUNT;
}

bool map_scatter(struct import *im, const struct model_op *op, const char *ours)
{
    struct picks p = pick_picks_of(im, op);
    const char *word = import_replaces(im, op) ? "none" : import_reducer(im, op);
    (void)ours;
    if (op->operand_count != 3) return import_generic(im, op, "form");
    p.form = (struct form){.window = pick_list_of(op, "update_window_dims"),
                           .gone = pick_list_of(op, "inserted_window_dims"),
                           .map = pick_list_of(op, "scatter_dims_to_operand_dims"),
                           .batch = pick_list_of(op, "input_batching_dims"),
                           .index_batch = pick_list_of(op, "scatter_indices_batching_dims"),
                           .vector = model_attr_int(&op->attrs, "index_vector_dim", p.index.type->count)};
    return pick_scatter(im, op, &p, pick_combine_of(word, p.table.type->element == MODEL_BOOL));
}
