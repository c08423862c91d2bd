/* The operands of partition cases, and the cases about layouts and runtime plans that must be refused. */
#include "cases/partition_form.h"

#include <string.h>

int64_t partition_item(const cJSON *list, int i)
{
    return case_int(cJSON_GetArrayItem(list, i), 0);
}

static void fill_shard(struct partition_operand *p, const cJSON *json)
{
    const cJSON *v, *elements = cjson_find(json, "shard_shape_elems");
    const cJSON *align = cjson_find(json, "align_tiles"), *tiles = cjson_find(json, "projected_shard_tiles");
    struct lx_shard *s = &p->shard;
    cJSON_ArrayForEach(v, cjson_find(json, "axes"))
    {
        if (s->axis_count < LX_LAUNCH_RANK)
            p->axes[s->axis_count++] = cJSON_IsString(v) ? v->valuestring : "";
    }
    cJSON_ArrayForEach(v, cjson_find(json, "grid"))
    {
        if (s->grid_rank < LX_LAUNCH_RANK) p->grid[s->grid_rank++] = case_int(v, 0);
    }
    int n = cJSON_GetArraySize(elements);
    for (int a = 0; a < 2 && n >= 2; a++) s->elements[a] = partition_item(elements, n - 2 + a);
    for (int a = 0; a < 2 && tiles; a++) s->tiles[a] = partition_item(tiles, a);
    s->unaligned = cJSON_IsFalse(align);
    s->axes = p->axes;
    s->grid = p->grid;
    p->o.shard = s;
}

void partition_operand_fill(struct partition_operand *p, const char *name, const cJSON *json)
{
    const cJSON *memory = cjson_find(json, "memory"), *layout = cjson_find(json, "layout");
    const cJSON *tile = cjson_find(json, "tile_shape"), *dtype = cjson_find(json, "dtype");
    *p = (struct partition_operand){.o = {.name = name}};
    if (memory) p->o.memory = lx_memory_find(case_text(json, "memory"));
    if (layout) p->o.placing = lx_placing_find(case_text(json, "layout"));
    if (dtype) p->o.element_bits = strstr(case_text(json, "dtype"), "16") ? 16 : 32;
    if (tile) p->o.tile_rank = cJSON_GetArraySize(tile);
    if (tile && p->o.tile_rank == 0) p->o.tile_rank = -1;
    for (int a = 0; a < 2; a++) p->o.tile[a] = partition_item(tile, a);
    const cJSON *halo = cjson_find(json, "halo");
    p->o.has_halo = halo && !cJSON_IsNull(halo);
    if (cjson_find(json, "nd_shard")) fill_shard(p, cjson_find(json, "nd_shard"));
}

void partition_default_shard(struct partition_operand *p)
{
    if (p->o.shard || p->o.memory != LX_MEMORY_LX || p->o.placing != LX_SHARDED) return;
    p->axes[0] = "M";
    p->axes[1] = "N";
    p->grid[0] = p->grid[1] = 1;
    p->shard = (struct lx_shard){2, 2, p->axes, p->grid, {0, 0}, {1, 1}, false};
    p->o.shard = &p->shard;
}

void partition_expect_pair(struct cases *c, const char *what, const cJSON *wanted, int64_t first,
                           int64_t second)
{
    case_expect(c, partition_item(wanted, 0) == first && partition_item(wanted, 1) == second,
                "expected %s [%lld, %lld], got [%lld, %lld]", what, (long long)partition_item(wanted, 0),
                (long long)partition_item(wanted, 1), (long long)first, (long long)second);
}

/* The other system's words for what is wrong, and our codes. */
static const struct {
    const char *words;
    enum lx_code code;
} complaints[] = {
    {"Halo", LX_E_LAUNCH_HALO},
    {"memory type", LX_E_LAUNCH_MEMORY},
    {"layout type", LX_E_LAUNCH_LAYOUT},
    {"exceeds capacity", LX_E_LAUNCH_TILE_BYTES},
    {"align", LX_E_LAUNCH_ALIGN},
    {"tile_shape", LX_E_LAUNCH_TILE_SHAPE},
    {"axes", LX_E_LAUNCH_SHARD_AXES},
    {"nd_shard", LX_E_LAUNCH_NO_SHARD},
    {"Missing required field", LX_E_LAUNCH_FIELD},
    {"missing start or extent", LX_E_LAUNCH_FIELD},
    {"schema_version", LX_E_LAUNCH_VERSION},
    {"backend_version", LX_E_LAUNCH_VERSION},
    {"exceeds grid bounds", LX_E_LAUNCH_RANGE},
    {"negative start", LX_E_LAUNCH_START},
};

/* `words` NULL: nothing is wrong. Words that the table does not have ask only for a refusal. */
static void expect_complaint(struct cases *c, const char *words, bool accepted, const lx_status *st)
{
    case_expect(c, accepted == !words, "expected %s, got %s", words ? words : "no complaint",
                accepted ? "none" : st->text);
    if (!words || accepted) return;
    for (size_t i = 0; i < sizeof complaints / sizeof *complaints; i++)
        if (strstr(words, complaints[i].words)) {
            case_expect(c, st->code == complaints[i].code, "expected %s for \"%s\", got %s",
                        lx_code_word(complaints[i].code), words, lx_code_word(st->code));
            return;
        }
}

void partition_check_layout(struct cases *c, const cJSON *json)
{
    struct partition_operand p;
    lx_status st = {0};
    const char *result = case_text(cjson_find(json, "expected"), "result");
    partition_operand_fill(&p, "A", cjson_find(json, "input"));
    bool accepted = lx_launch_check_operand(&p.o, &st);
    expect_complaint(c, strcmp(result, "ok") == 0 ? NULL : result, accepted, &st);
    const cJSON *shard = cjson_find(cjson_find(cjson_find(json, "expected"), "layout"), "nd_shard");
    int64_t grid[2];
    if (accepted && shard && lx_shard_grid(&p.shard, "A", grid, &st))
        partition_expect_pair(c, "shard grid", cjson_find(shard, "projected_grid"), grid[0], grid[1]);
}

void partition_check_plan(struct cases *c, const cJSON *json)
{
    struct text t = {0};
    lx_status st = {0};
    const cJSON *first = cJSON_GetArrayItem(cjson_find(cjson_find(json, "expected"), "errors"), 0);
    text_json_value(&t, cjson_find(json, "input"));
    bool accepted = t.at && lx_runtime_plan_check("case", t.at, t.length, &st);
    expect_complaint(c, cJSON_IsString(first) ? first->valuestring : NULL, accepted, &st);
    text_free(&t);
}
