/* lxplan diff of two teams' plans: tensors that are sharded differently, and the changes in bytes and
 * time. */
#pragma once

#include "team/team_figures.h"

/* A number of both plans. */
struct team_total_row {
    const char *key, *words;
    double before, after;
    bool is_time; /* us; else a count or bytes */
};

/* A tensor that both have; its places in their patterns. */
struct team_change_row {
    const struct lx_team_plan *before, *after;
    int32_t tensor_before, tensor_after; /* -1: it is not there */
};

struct team_device_change {
    const struct team_device_figures *before, *after;
};

enum { TEAM_TOTALS = 8 };

struct team_diff {
    const struct team_figures *before, *after;
    struct team_total_row totals[TEAM_TOTALS];
    struct team_change_row *tensors; /* tensors that differ in shards or bytes */
    int32_t tensor_count, recut;     /* recut: of these, sharded differently */
    struct team_device_change *devices;
    int device_count; /* that differ; 0 where the teams have other numbers of devices */
    bool same_grid, same_steps;
};

void team_diff_make(const struct team_figures *before, const struct team_figures *after,
                    struct team_diff *out);
void team_diff_free(struct team_diff *d);
/* Is there nothing to tell? */
bool team_diff_is_equal(const struct team_diff *d);
void team_diff_text(const struct team_diff *d, struct text *out);
void team_diff_json(const struct team_diff *d, struct text *out);
