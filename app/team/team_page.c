/* A team's plan as a page for a browser: its time line and its tables as data of html/team.js. Of a device
 * up to MOST_SPANS intervals: ops that follow each other at once become one where they are shorter than a
 * share of the whole. */
#include "team/team_show.h"
#include "html/html.h"

enum { MOST_SPANS = 2000, MOST_DRAWN = 64 };

struct span {
    double from, to;
    const char *kind, *name;
    int64_t ops; /* that it stands for */
};

struct page_writer {
    const struct team_figures *f;
    struct text *out;
    bool begun;
};

static void team_page_add_name(const char *name, struct text *out)
{
    OWNED char *clean = printable(name ? name : "", 0);
    text_json_string(out, clean);
}

static void flush_span(struct page_writer *w, struct span *s)
{
    if (!s->kind) return;
    text_format(w->out, "%s[%.9g,%.9g,\"%s\",", w->begun ? "," : "", s->from, s->to, s->kind);
    w->begun = true;
    if (s->ops > 1)
        team_page_add_name(counted(s->ops, "op").at, w->out);
    else
        team_page_add_name(s->name, w->out);
    text_add(w->out, "]");
    s->kind = NULL;
}

/* Joined to the one before where both are short and of one kind. */
static void add_span(struct page_writer *w, struct span *last, const struct span *s)
{
    double shortest = w->f->clock->us / MOST_SPANS;
    if (!(s->to > s->from)) return;
    if (last->kind == s->kind && s->from - last->to < shortest / 8 && s->to - last->from < shortest) {
        last->to = s->to;
        last->ops++;
        return;
    }
    flush_span(w, last);
    *last = *s;
}

static const char *trip_word(const struct lx_team_plan *p, int tag)
{
    int of_combine = tag - lx_team_tag_combine(p, 0, 0);
    return of_combine < 0 ? p->graph->tensors[p->exchanges[tag - 1].tensor].name
                          : p->graph->ops[of_combine / 2].name;
}

static void team_page_add_spans(struct page_writer *w, int m)
{
    static const char works[] = "works", waits[] = "waits", links[] = "links";
    const struct lx_team_times *t = &w->f->clock->at[m];
    const struct lx_plan *plan = w->f->plans->plans[m];
    const struct lx_team_plan *team = w->f->plans->team;
    struct span last = {0};
    for (int o = 0; o < t->ops; o++) {
        const char *from = t->trip[o] < 0 ? "" : trip_word(team, t->trips[t->trip[o]].tag);
        add_span(w, &last, &(struct span){t->begin[o], t->works[o], waits, from, 1});
        add_span(w, &last,
                 &(struct span){t->works[o], t->end[o], works, plan->layouts->graph->ops[o].name, 1});
    }
    for (int i = 0; i < t->trip_count; i++)
        if (t->trips[i].axes)
            add_span(w, &last,
                     &(struct span){t->trips[i].begin, t->trips[i].end, links,
                                    trip_word(team, t->trips[i].tag), 1});
    flush_span(w, &last);
}

/* One more of a list of tables. */
static void add_to_list(const struct table *t, struct text *out)
{
    if (t->row_count == 0) return;
    if (out->length) text_add(out, ",\n");
    html_table(t, out);
}

static void team_page_add_lines(const struct team_figures *f, struct text *out)
{
    SCOPED(text_free) struct text words = {0};
    const char *between = "";
    add_team_verdict(f, &words);
    text_add(out, ",\n\"words\": [");
    for (char *line = words.at; line && *line;) {
        char *end = line;
        while (*end && *end != '\n') end++;
        bool more = *end;
        *end = 0;
        text_add(out, between);
        text_json_string(out, line);
        between = ", ";
        line = more ? end + 1 : end;
    }
    text_add(out, "]");
}

void show_team_html(const struct team_figures *f, struct text *out)
{
    const struct lx_team_plan *p = f->plans->team;
    SCOPED(text_free) struct text json = {0}, title = {0}, tables = {0};
    struct exporter as_data = {.name = "html", .whole = true, .begin = "", .add = add_to_list};
    add_printable(&title, p->graph->name, 0);
    text_add(&json, "{\"lxplan\": 1, \"kind\": \"page\", \"title\": ");
    text_json_string(&json, title.at ? title.at : "");
    text_add(&json, ", \"subtitle\": \"plan of ");
    add_grid(p, &json);
    text_add(&json, "\"");
    team_page_add_lines(f, &json);
    write_team_tables(f, &as_data, &tables);
    text_format(&json, ",\n\"tables\": [%s]", tables.at ? tables.at : "");
    int devices = f->plans->team->devices < MOST_DRAWN ? f->plans->team->devices : MOST_DRAWN;
    text_format(&json, ",\n\"us\": %.9g, \"lanes\": [", f->clock->us);
    for (int m = 0; m < devices; m++) {
        struct page_writer w = {f, &json, false};
        text_format(&json, "%s\n{\"name\": \"%d at ", m ? "," : "", m);
        add_coordinates(&f->plans->team->grid, m, &json);
        text_add(&json, "\", \"spans\": [");
        team_page_add_spans(&w, m);
        text_add(&json, "]}");
    }
    text_add(&json, "]}\n");
    html_page(title.at ? title.at : "", html_team_js, &json, NULL, out);
}
