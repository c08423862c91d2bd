#include "support/nest_damage.h"

static cJSON *nests_of(struct damage *d)
{
    return cJSON_GetObjectItem(d->graph, "nests");
}

static cJSON *any_nest(struct damage *d)
{
    return any_of(d, nests_of(d));
}

static int levels_in(const cJSON *nest)
{
    return cJSON_GetArraySize(cJSON_GetObjectItem(nest, "tiles"));
}

static bool scale_tiles(struct damage *d, double by)
{
    cJSON *v = any_of(d, cJSON_GetObjectItem(any_nest(d), "tiles"));
    if (!v || v->valuedouble * by < 1) return false;
    cJSON_SetNumberValue(v, (double)(int64_t)(v->valuedouble * by));
    return true;
}

static bool more_tiles(struct damage *d)
{
    return scale_tiles(d, 2);
}

static bool fewer_tiles(struct damage *d)
{
    return scale_tiles(d, 0.5);
}

static bool odd_tiles(struct damage *d)
{
    cJSON *tiles = cJSON_GetObjectItem(any_nest(d), "tiles");
    return change_item(tiles, damage_below(d, cJSON_GetArraySize(tiles)), damage_shift(d, 2));
}

/* The variable of one op, or of all ops of the run, at one level. */
static bool other_axis(struct damage *d)
{
    cJSON *vars = cJSON_GetObjectItem(any_nest(d), "vars");
    return change_item(vars, damage_below(d, cJSON_GetArraySize(vars)), damage_shift(d, 2));
}

static bool other_axes(struct damage *d)
{
    cJSON *nest = any_nest(d), *vars = cJSON_GetObjectItem(nest, "vars");
    int levels = levels_in(nest), n = cJSON_GetArraySize(vars);
    double by = damage_shift(d, 2);
    if (levels == 0) return false;
    for (int i = damage_below(d, levels); i < n; i += levels) change_item(vars, i, by);
    return true;
}

/* Ops leave the run or join it, with what their variables would be. */
static bool later_first(struct damage *d)
{
    cJSON *nest = any_nest(d), *vars = cJSON_GetObjectItem(nest, "vars");
    for (int i = levels_in(nest); i > 0; i--) cJSON_DeleteItemFromArray(vars, 0);
    return add_to(nest, "first", 1);
}

static bool sooner_last(struct damage *d)
{
    cJSON *nest = any_nest(d), *vars = cJSON_GetObjectItem(nest, "vars");
    for (int i = levels_in(nest); i > 0; i--) cJSON_DeleteItemFromArray(vars, cJSON_GetArraySize(vars) - 1);
    return add_to(nest, "last", -1);
}

static bool sooner_first(struct damage *d)
{
    cJSON *nest = any_nest(d), *vars = cJSON_GetObjectItem(nest, "vars");
    for (int i = levels_in(nest) - 1; i >= 0; i--)
        insert_at(vars, 0, cJSON_Duplicate(cJSON_GetArrayItem(vars, levels_in(nest) - 1), true));
    return add_to(nest, "first", -1);
}

static bool later_last(struct damage *d)
{
    cJSON *nest = any_nest(d), *vars = cJSON_GetObjectItem(nest, "vars");
    int levels = levels_in(nest), n = cJSON_GetArraySize(vars);
    for (int i = 0; i < levels; i++)
        cJSON_AddItemToArray(vars, cJSON_Duplicate(cJSON_GetArrayItem(vars, n - levels + i), true));
    return add_to(nest, "last", 1);
}

static bool shift_nest(struct damage *d)
{
    cJSON *nest = any_nest(d);
    double by = damage_shift(d, 2);
    return add_to(nest, "first", by) && add_to(nest, "last", by);
}

static bool drop_level(struct damage *d)
{
    cJSON *nest = any_nest(d), *vars = cJSON_GetObjectItem(nest, "vars");
    int levels = levels_in(nest), level = damage_below(d, levels);
    if (levels < 2) return false;
    for (int i = cJSON_GetArraySize(vars) - levels + level; i >= 0; i -= levels)
        cJSON_DeleteItemFromArray(vars, i);
    cJSON_DeleteItemFromArray(cJSON_GetObjectItem(nest, "tiles"), level);
    return true;
}

static void swap_items(cJSON *list, int a, int b)
{
    cJSON *x = cJSON_GetArrayItem(list, a), *y = cJSON_GetArrayItem(list, b);
    double keep = x->valuedouble;
    cJSON_SetNumberValue(x, y->valuedouble);
    cJSON_SetNumberValue(y, keep);
}

static bool swap_levels(struct damage *d)
{
    cJSON *nest = any_nest(d), *vars = cJSON_GetObjectItem(nest, "vars");
    int levels = levels_in(nest), n = cJSON_GetArraySize(vars), level = damage_below(d, levels - 1);
    if (levels < 2) return false;
    for (int i = level; i + 1 < n; i += levels) swap_items(vars, i, i + 1);
    swap_items(cJSON_GetObjectItem(nest, "tiles"), level, level + 1);
    return true;
}

static bool drop_nest(struct damage *d)
{
    cJSON *nest = any_nest(d);
    if (!nest) return false;
    cJSON_Delete(cJSON_DetachItemViaPointer(nests_of(d), nest));
    return true;
}

static bool nest_twice(struct damage *d)
{
    cJSON *nest = any_nest(d);
    return nest && cJSON_AddItemToArray(nests_of(d), cJSON_Duplicate(nest, true));
}

/* A run becomes two of the same loops. */
static bool split_nest(struct damage *d)
{
    cJSON *nest = any_nest(d), *rest;
    int levels = levels_in(nest), ops = (int)(number_of(nest, "last") - number_of(nest, "first")) + 1, at,
        n = 0;
    if (!nest || ops < 2) return false;
    for (const cJSON *i = nests_of(d)->child; i != nest; i = i->next) n++;
    at = 1 + damage_below(d, ops - 1);
    rest = cJSON_Duplicate(nest, true);
    for (int i = 0; i < at * levels; i++) cJSON_DeleteItemFromArray(cJSON_GetObjectItem(rest, "vars"), 0);
    for (int i = (ops - at) * levels; i > 0; i--)
        cJSON_DeleteItemFromArray(cJSON_GetObjectItem(nest, "vars"), at * levels);
    add_to(rest, "first", at);
    set_number(nest, "last", number_of(nest, "first") + at - 1);
    return insert_at(nests_of(d), n + 1, rest);
}

/* Holds. */
static cJSON *held_buffer(struct damage *d)
{
    cJSON *b = any_with(d, d->buffers, "hold", NULL);
    for (int i = 0; i < 8 && b && !cJSON_HasObjectItem(b, "address"); i++)
        b = any_with(d, d->buffers, "hold", NULL);
    return b;
}

static bool other_hold(struct damage *d)
{
    return add_to(held_buffer(d), "hold", damage_shift(d, 2));
}

static bool no_hold(struct damage *d)
{
    return remove_key(held_buffer(d), "hold");
}

static bool some_hold(struct damage *d)
{
    cJSON *b = damage_placed(d);
    return b && !cJSON_HasObjectItem(b, "hold") && set_number(b, "hold", 1 + damage_below(d, 3));
}

/* A hold with the size that it would have, as far as that is the next count. */
static bool hold_with_size(struct damage *d)
{
    cJSON *b = held_buffer(d), *tiles = cJSON_GetObjectItem(any_nest(d), "tiles");
    cJSON *count = cJSON_GetArrayItem(tiles, (int)number_of(b, "hold") - 1);
    if (!b || !count || number_of(b, "hold") < 1) return false;
    set_number(b, "size", number_of(b, "size") * count->valuedouble);
    return add_to(b, "hold", -1);
}

static bool life_of_tile(struct damage *d)
{
    cJSON *b = held_buffer(d);
    return damage_below(d, 2) ? add_to(b, "start", 1 + damage_below(d, 2))
                              : add_to(b, "end", -1 - damage_below(d, 2));
}

static bool size_of_tile(struct damage *d)
{
    cJSON *b = held_buffer(d);
    double size = number_of(b, "size");
    return b && set_number(b, "size", damage_below(d, 2) ? size * 2 : (double)(int64_t)(size / 2));
}

static bool tile_elsewhere(struct damage *d)
{
    cJSON *b = held_buffer(d);
    return b && cJSON_HasObjectItem(b, "address") && set_number(b, "address", damage_below(d, 48));
}

/* A copy as if it were made once, or in one iteration more. */
static bool fewer_copies(struct damage *d)
{
    cJSON *t = any_of(d, d->transfers);
    double bytes = number_of(t, "bytes");
    return t && set_number(t, "bytes", damage_below(d, 2) ? (double)(int64_t)(bytes / 2) : bytes * 2);
}

static bool copy_next_tick(struct damage *d)
{
    return add_to(any_of(d, d->transfers), "tick", damage_shift(d, 1));
}

static bool forge_iterations(struct damage *d)
{
    cJSON *v = cJSON_GetArrayItem(any_access(d), 3);
    if (!v || v->valuedouble == 0) return false;
    cJSON_SetNumberValue(v, v->valuedouble * 2);
    return true;
}

const struct sabotage nest_sabotages[NEST_SABOTAGES] = {
    {"twice the tiles", more_tiles, 0},
    {"half the tiles", fewer_tiles, 0},
    {"tiles that may not divide", odd_tiles, 0},
    {"another variable of one op", other_axis, 0},
    {"another variable of all ops", other_axes, 0},
    {"a run that begins later", later_first, 0},
    {"a run that begins sooner", sooner_first, 0},
    {"a run that ends sooner", sooner_last, 0},
    {"a run that ends later", later_last, 0},
    {"a run at another place", shift_nest, 0},
    {"a level left out", drop_level, 0},
    {"two levels swapped", swap_levels, 0},
    {"a nest left out", drop_nest, 0},
    {"a nest made twice", nest_twice, 0},
    {"a nest in two", split_nest, 0},
    {"another hold", other_hold, 0},
    {"a hold left out", no_hold, 0},
    {"a hold of what is whole", some_hold, 0},
    {"a hold of a larger slice", hold_with_size, 0},
    {"another life of a tile", life_of_tile, 0},
    {"another size of a tile", size_of_tile, 0},
    {"a tile elsewhere", tile_elsewhere, 0},
    {"copies counted otherwise", fewer_copies, 0},
    {"a copy a tick off", copy_next_tick, 0},
    {"iterations of an access forged", forge_iterations, 0},
};
