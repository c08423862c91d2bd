/* Pages that are one file: markup, styles, scripts and data, so that they open from disk and can be sent
 * around. The parts are sources in this folder, which the build puts into the library (embed.cmake).
 *
 * * Texts of files stand in the data, as JSON inside a script element of a type that no browser runs; the
 * scripts put them into the page as text, never as markup. The part for readers without scripts escapes
 * them. */
#pragma once

#include "base/base.h"
#include "plan/plan.h"

extern const char html_page_css[], html_page_js[], html_plan_js[];

/* The page of a script with its data, which is JSON. `still`: markup for readers without scripts; NULL:
 * none. */
void html_page(const char *title, const char *script, const struct text *json, const struct text *still,
               struct text *out);
/* plan_page.c: the page of a plan, compared with another one (may be NULL). `remedies`: as data; NULL:
 * none. */
void plan_page(const struct lx_plan *p, const struct lx_plan *other, const char *remedies, struct text *out);

/* Limits of the page without scripts: the largest buffers, the first ops. */
enum { STILL_MOST = 1000 };

/* The part of the page for readers without scripts: facts, map, tables. */
void add_still(const struct lx_plan *p, const struct lx_plan *other, struct text *out);

/* "lxplan plan PATTERN -s auto --seed 0 ...": the command that makes the plan again. */
void add_command_words(const struct lx_plan *p, struct text *out);
/* Version of the program that writes the page. */
extern const char page_version[];
