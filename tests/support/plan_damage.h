/* Ways to damage a plan file: buffers, who is served by them, copies, splits, layouts, order. An act changes the JSON tree
 * in one place, or in few that belong together, and returns whether it changed anything. */
#ifndef LX_TESTS_SUPPORT_PLAN_DAMAGE_H
#define LX_TESTS_SUPPORT_PLAN_DAMAGE_H

#include "base/rng.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct damage {
    cJSON *plan, *graph, *buffers, *tensors, *ops, *launches, *transfers, *bundles;
    struct rng *rng;
};

int damage_below(struct damage *d, int n);
cJSON *any_of(struct damage *d, const cJSON *array);

/* Any element that has `key`, and if `word` is given has it there. */
cJSON *any_with(struct damage *d, const cJSON *array, const char *key, const char *word);
double number_of(const cJSON *object, const char *key);
bool set_number(cJSON *object, const char *key, double value);
bool add_to(cJSON *object, const char *key, double by);
bool remove_key(cJSON *object, const char *key);

/* Gives the item back where there is no such array. */
bool insert_at(cJSON *array, int n, cJSON *item);

/* One number of a list, or of a row of it. */
bool change_item(cJSON *list, int i, double by);
cJSON *damage_placed(struct damage *d);
double damage_shift(struct damage *d, int most);

/* Accesses. */
cJSON *any_access(struct damage *d);

typedef bool damage_act(struct damage *d);
damage_act move_buffer, misalign, beyond, take_off, put_on, swap_addresses, same_address, grow, shrink,
    begin_later, end_sooner, other_life, other_tensor, other_view, forge_handover, no_handover, to_hbm,
    to_buffer, flip_access, forge_access, drop_load, drop_store, drop_ring, other_tick, other_buffer,
    other_source, other_kind, forge_copy, copy_twice, copy_of_nothing, more_slices, odd_slices,
    other_variable, no_split, turn_sticks, other_padding, other_stick, swap_ops, other_input, other_output,
    other_op, swap_results, drop_result, result_twice, other_result, swap_result_accesses;

#endif
