/* Chains by rows: where an op folds the rows of a core's part, and ops before and after it make elements of
 * the same rows or one number for each, a warp takes a row through all of them. It has the row in registers,
 * so that nobody waits for anybody. A norm or a softmax is such a chain. */
#include "emit/emission.h"

enum { ROW_LANES = 32, ROW_MOST = 8 /* vectors of a row in a lane's registers */ };

int row_width(int64_t elements, int widest)
{
    return widest == 8 && elements / 8 < ROW_LANES ? 4 : widest;
}

void row_open(struct emission *e, const struct chain_link *link, int number)
{
    emit_line(e, "f%d y%d[%s / LANES];", link->width, number, link->terms.total);
    row_each(e, link);
}

void row_each(struct emission *e, const struct chain_link *link)
{
    emit_line(e, "EACH(t, %s / LANES) {", link->terms.total);
    e->indent++;
    emit_line(e, "const int k = t * LANES + LANE;");
    item_digits_declare(e, &link->terms, "k");
}

/* Can each lane have a share of the row at hand? */
static bool row_fits(const struct chain_link *link)
{
    int64_t terms = item_digits_count(&link->terms);
    return link->form == LINK_NUMBER || (terms && terms % ROW_LANES == 0 && terms / ROW_LANES <= ROW_MOST);
}

static bool row_link(struct emission *e, struct chain_link *link)
{
    if (!link->o.op && !op_places_make(e, &link->o)) return false;
    const struct op_emission *o = &link->o;
    bool makes = o->op->reduces ? fold_row(e, link) : pointwise_row(e, link);
    for (int i = 0; i < link->terms.count; i++) { /* no digit of a row's number is named so */
        struct item_digit *d = &link->terms.at[i];
        snprintf(d->name, sizeof d->name, "%s", i ? "in_stick" : "in_row");
    }
    return makes && !o->all_cores && row_fits(link);
}

/* The chain from this tick on, whose first op is in chain[0]; returns its length, 0: there is none. */
static int rows_chain(struct emission *e, struct chain_link *chain)
{
    int32_t tick = e->tick;
    struct op_parts *parts = e->parts;
    lx_status none = {0}, *st = e->st;
    int length = 0, folds = 0;
    chain->tick = tick;
    e->st = &none; /* an op that has no such form says why where it is written */
    if (strcmp(e->number, "float") == 0 && !e->how.traces && !e->how.stamps && row_link(e, chain)) length = 1;
    e->st = st;
    while (length && chain_next(e, chain, length, &chain[length], row_link)) length++;
    for (int i = 0; i < length; i++) folds += chain[i].form == LINK_FOLD;
    if (folds && length > 1) return length;
    e->tick = tick;
    e->parts = parts;
    return 0;
}

int32_t rows_last_tick(struct emission *e)
{
    struct chain_link *chain = arena_array(&e->memory, CHAIN_MOST + 1, sizeof *chain);
    int32_t tick = e->tick;
    const char *number = e->number;
    struct op_parts *parts = e->parts;
    lx_status none = {0}, *st = e->st;
    e->st = &none;
    int32_t last = tick_numbers(e) && rows_chain(e, chain) ? e->tick : -1;
    e->st = st;
    e->tick = tick;
    e->number = number;
    e->parts = parts;
    return last;
}

bool body_rows(struct emission *e, const struct op_emission *o)
{
    struct chain_link *chain = arena_array(&e->memory, CHAIN_MOST + 1, sizeof *chain);
    chain[0] = (struct chain_link){.o = *o};
    int length = rows_chain(e, chain);
    if (!length) return false;
    if (chain_waits(e, chain, length)) emit_line(e, "meet_core();");
    emit_line(e, "FOR_ROWS(i, %s) {", chain->digits.total);
    e->indent++;
    item_digits_declare(e, &chain->digits, "i");
    for (int i = 0; i < length; i++) {
        if (i) tick_comment(e, chain[i].tick);
        if (chain[i].form == LINK_FOLD)
            fold_row_body(e, chain, length, i);
        else
            pointwise_link_body(e, chain, length, i);
    }
    e->indent--;
    emit_line(e, "}");
    return true;
}
