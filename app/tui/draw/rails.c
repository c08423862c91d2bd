/* Lanes by lanes_sweep (export/plan_map.h), then the rails of each lane together. */
#include "tui/draw/rails.h"
#include "base/bisect.h"
#include "base/memory.h"
#include "export/plan_map.h"

void rails_make(const struct rail *all, int32_t count, int32_t rows, struct rails *out)
{
    struct laned *lives = mem_alloc(((size_t)count + 1) * sizeof *lives);
    int32_t next[MOST_RAILS];
    *out = (struct rails){.rows = rows};
    out->at = mem_alloc(((size_t)count + 1) * sizeof *out->at);
    out->live = mem_zeroed((size_t)rows + 2, sizeof *out->live);
    for (int32_t i = 0; i < count; i++) {
        lives[i] = (struct laned){all[i].first, (int64_t)all[i].last + 1, all[i].thing, 0};
        out->live[all[i].first]++;
        out->live[all[i].last + 1]--;
    }
    out->lanes = lanes_sweep(lives, (size_t)count, MOST_RAILS);
    for (int32_t i = 0; i < count; i++) /* counts, one further on */
        if (lives[i].lane >= 0) out->lane_at[lives[i].lane + 1]++;
    for (int k = 0; k < MOST_RAILS; k++) {
        out->lane_at[k + 1] += out->lane_at[k];
        next[k] = out->lane_at[k];
    }
    for (int32_t i = 0; i < count; i++)
        if (lives[i].lane >= 0)
            out->at[next[lives[i].lane]++] =
                (struct rail){lives[i].who, (int32_t)lives[i].from, (int32_t)lives[i].to - 1};
    for (int32_t row = 1; row <= out->rows; row++) out->live[row] += out->live[row - 1];
    mem_free(lives);
}

void rails_free(struct rails *r)
{
    mem_free(r->at);
    mem_free(r->live);
    *r = (struct rails){0};
}

const struct rail *rails_at(const struct rails *r, int lane, int32_t row)
{
    int32_t i;
    if (lane < 0 || lane >= r->lanes) return NULL;
    BISECT(i, r->lane_at[lane], r->lane_at[lane + 1], r->at[i].last < row);
    return i < r->lane_at[lane + 1] && r->at[i].first <= row ? &r->at[i] : NULL;
}

int32_t rails_folded(const struct rails *r, int lanes, int32_t row)
{
    if (row < 0 || row >= r->rows) return 0;
    int32_t folded = r->live[row];
    for (int k = 0; k < lanes && k < r->lanes; k++) folded -= rails_at(r, k, row) != NULL;
    return folded;
}
