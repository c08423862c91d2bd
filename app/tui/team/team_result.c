/* What a run of the team does, did, or would do: in words, at the bottom of its view. */
#include "tui/team/team_picture.h"

/* What the run does, did, or would do. */
static struct style run_words(const struct scene *on, struct text *line)
{
    struct team_model *t = &on->session->team;
    struct progress now = worker_progress(on->session->worker, &team_run_work, t->members);
    if (now.running) {
        char spinner[5] = {0};
        encode_character(on->glyphs->spinner[on->spin & 3], spinner);
        text_format(line, "%s running: op %s of %s, %s; %s stops it", spinner, grouped(now.so_far.steps).at,
                    grouped(now.so_far.bound).at, in_time(now.seconds).at, KEY_OF(STOP));
        return INK(WARN);
    }
    if (now.waiting)
        text_format(line, "the run waits its turn; %s takes it back", KEY_OF(STOP));
    else if (!t->run.known)
        text_format(line, "%s runs the team and compares its result with one device's", KEY_OF(RUN_TEAM));
    else if (t->run.stopped)
        text_format(line, "stopped; %s runs the team again", KEY_OF(RUN_TEAM));
    else if (t->run.ok) {
        const struct lx_team_result *r = &t->run.result;
        if (r->bad_member >= 0)
            text_format(line, "WRONG: member %d: %s", r->bad_member, r->members[r->bad_member].why);
        else if (!r->ok)
            text_format(line, "NOT EQUAL to one device: %s of %s elements differ, by at most %.3g",
                        grouped(r->differing).at, grouped(r->elements).at, r->worst);
        else if (r->differing == 0)
            text_format(line, "equal to one device: 0 of %s elements differ", grouped(r->elements).at);
        else
            text_format(line,
                        "close to one device: %s of %s elements differ in a bit, by at most %.3g of %.3g",
                        grouped(r->differing).at, grouped(r->elements).at, r->worst, r->largest);
        text_format(line, "; %s, %s B", counted(r->total.messages, "message").at, grouped(r->total.bytes).at);
        if (r->total.combine_bytes)
            text_format(line, ", %s B to combine", grouped(r->total.combine_bytes).at);
        if (r->total.unequal_ops == 0) text_add(line, "; every count as planned");
        return t->run.result.ok ? INK(GOOD) : INK(BAD);
    } else {
        text_format(line, "%s; %s tries again", t->run.st.text, KEY_OF(RUN_TEAM));
        return INK(BAD);
    }
    return INK(DIM);
}

/* The last line, or two of them where it is long and there is room. */
void team_result_draw(const struct scene *on, struct box *area)
{
    struct text line = {0};
    struct style style = run_words(on, &line);
    if (line.at && area->rows >= 14 && columns_of(line.at) > area->columns)
        put_wrapped(on->cells, box_cut_bottom(area, 2), style, line.at);
    else if (line.at && area->rows >= 5) {
        struct box row = box_cut_bottom(area, 1);
        put_text(on->cells, row.row, row.column, row.columns, style, line.at);
    }
    text_free(&line);
}
