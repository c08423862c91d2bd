/* Fields of a team plan file: one row per field, as in planfile/plan_fields.h. The rows define the structs
 * below, write and read the file, and document it: lib/plan-format.md has them as tables, and a test
 * compares both. Tensors and ops are numbered as in the pattern. */
#pragma once

#include "base/json/record.h"

// clang-format off
#define TEAM_STATED(F, KIND, key, help)  F(KIND, key, NEEDED, STATED, 0, 0, help)
#define TEAM_MAY(F, KIND, key, help)     F(KIND, key, OPTIONAL, STATED, 0, -1, help)
#define TEAM_CHECKED(F, KIND, key, help) F(KIND, key, OPTIONAL, CHECKED, 0, -1, help)
#define TEAM_ROWS(F, key, width, help)   F(ROWS, key, OPTIONAL, STATED, width, 0, help)

#define TEAM_ROOT_FIELDS(F) \
    TEAM_STATED(F, INT, members, "devices of the team") \
    TEAM_MAY(F, INTS, grid, "how many there are along each axis, the last fastest; absent: all in a row") \
    TEAM_CHECKED(F, TEXT, pattern_hash, "of the pattern below, so that a changed one is noticed") \
    TEAM_CHECKED(F, INT, bytes, "received by all devices in all exchanges") \
    TEAM_CHECKED(F, INT, combine_bytes, "and in combining partial results") \
    TEAM_CHECKED(F, INT, plain_bytes, "what bytes would be with default partitions and one exchange per read") \
    F(REAL, predicted_us, OPTIONAL, CHECKED, 0, -1, "when the last device is through, by the devices' plans and the links") \
    F(REAL, bound_us, OPTIONAL, CLAIMED, 0, -1, "no plans on this grid take less whose inputs lie as here, and that keep given shards; never above the plan's own") \
    TEAM_CHECKED(F, INT, bound_bytes, "none of these receive fewer bytes in exchanges and in combining together; absent: nobody asked")

#define TEAM_TENSOR_FIELDS(F) \
    TEAM_CHECKED(F, TEXT, name, "as in the pattern") \
    TEAM_MAY(F, INT, cut, "the dimension along which it is sharded; absent: replicated on every device; -2: partial sums") \
    TEAM_MAY(F, INTS, cuts, "the same for each axis of a grid; -1: replicated along it; -2: partial sums") \
    TEAM_MAY(F, INTS, bounds, "where its blocks begin, and the extent; of a grid for each sharded dimension, one after the other") \
    TEAM_MAY(F, INT, given, "1: its shards were stated, by the pattern or by the caller")

#define TEAM_OP_FIELDS(F) \
    TEAM_CHECKED(F, TEXT, name, "as in the pattern") \
    TEAM_STATED(F, TEXT, mode, "whole: every device computes all of it; split: a variable of the output is sharded; combine: one that is summed away is, or partial sums of an input are read, and partial sums are added up; parts: the same, but they are kept") \
    TEAM_MAY(F, INT, var, "that variable, numbered as the op's index string has them; -2: it works on partial sums of all its inputs, or of the first; -2 - i: of input i") \
    TEAM_MAY(F, INTS, vars, "the same for each axis of a grid; -1: it shards none") \
    TEAM_ROWS(F, ranges, 2, "per device: from where to where it runs; of a grid for each sharded variable, one after the other") \
    TEAM_MAY(F, INTS, exchanges, "per input: the exchange that brings the parts that are not owned; -1: none") \
    TEAM_STATED(F, INT, group, "number of its group") \
    TEAM_CHECKED(F, INT, bytes, "received by all devices because of it")

#define TEAM_EXCHANGE_FIELDS(F) \
    TEAM_STATED(F, INT, tensor, "number of the tensor that travels") \
    TEAM_MAY(F, INT, after, "the op that wrote the tensor; absent: it was given") \
    TEAM_CHECKED(F, INT, first_reader, "the first op that reads it") \
    TEAM_CHECKED(F, INT, reads, "operands that it serves") \
    TEAM_CHECKED(F, TEXT, pattern, "halo, gather or repartition") \
    TEAM_MAY(F, INT, sides, "1: of a halo only the sides travel, no corners") \
    TEAM_MAY(F, INTS, offsets, "where each device's box, the least around its reads, begins: as many numbers per device as the tensor has dimensions") \
    TEAM_MAY(F, INTS, sizes, "of the boxes, likewise; 0: the device needs nothing") \
    TEAM_CHECKED(F, INTS, sent, "bytes, per device") \
    TEAM_CHECKED(F, INTS, received, "bytes, per device") \
    TEAM_CHECKED(F, INT, bytes, "received by all") \
    TEAM_CHECKED(F, INT, separate_bytes, "the same had each read been served on its own")

#define TEAM_GROUP_FIELDS(F) \
    TEAM_STATED(F, INT, first, "the first op of a run that shares loop bounds") \
    TEAM_STATED(F, INT, last, "the last") \
    TEAM_ROWS(F, core, 2, "per device: ranges that are computed while data travels; absent: all at once")

#define TEAM_STEP_FIELDS(F) \
    TEAM_STATED(F, TEXT, step, "start, wait, compute or combine") \
    TEAM_MAY(F, INT, op, "of compute and combine: number of the op") \
    TEAM_MAY(F, INT, exchange, "of start and wait: number of the exchange") \
    TEAM_MAY(F, TEXT, piece, "of compute: all, core, before or after") \
    TEAM_MAY(F, INT, along, "of before and after in a grid: which of the sharded variables; absent: the first")

/* S(ID, name, what, heading): the objects of the file. */
#define TEAM_SECTIONS(S) \
    S(ROOT, root, "the team's plan", "the file itself") \
    S(TENSOR, tensor, "a tensor", "each of `tensors`, one per tensor of the pattern") \
    S(OP, op, "an op", "each of `ops`, one per op of the pattern") \
    S(EXCHANGE, exchange, "an exchange", "each of `exchanges`") \
    S(GROUP, group, "a group", "each of `groups`, which follow each other") \
    S(STEP, step, "a step", "each of `steps`, in the order in which every device takes them")
// clang-format on

#define TEAM_MEMBER_OF(KIND, key, need, standing, width, absent, help) RECORD_MEMBER_##KIND(key)
#define TEAM_STRUCT(ID, name, what, heading)                                                                 \
    struct team_file_##name {                                                                                \
        TEAM_##ID##_FIELDS(TEAM_MEMBER_OF)                                                                   \
    };
TEAM_SECTIONS(TEAM_STRUCT)
#undef TEAM_STRUCT
#undef TEAM_MEMBER_OF

#define TEAM_SECTION_ID(ID, name, what, heading) TEAM_FILE_##ID,
enum team_section_id { TEAM_SECTIONS(TEAM_SECTION_ID) TEAM_SECTION_COUNT };
#undef TEAM_SECTION_ID

struct team_section {
    const char *what, *heading;
    const struct field *fields;
    size_t count, size; /* of fields; of the struct */
};

extern const struct team_section team_sections[TEAM_SECTION_COUNT];
