/* GGUF as it is written: what is read again, blocks against the formulas of ggml in double precision, and what is
 * refused before anything is written. */
#include "support/check.h"
#include "support/folder.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { ROWS = 3, ROW = 64, COUNT = ROWS * ROW };

static const float *give(void *user, size_t tensor, mw_error *err)
{
    (void)tensor, (void)err;
    return user;
}

static void fill(float *out)
{
    for (int i = 0; i < COUNT; i++)
        out[i] = (float)((i * 37 % 101 - 50) * (i % 7 + 1)) / 64.0F;
    for (int i = 0; i < 32; i++)
        out[ROW + i] = 0.0F; /* a block without a scale */
}

static mw_status write_one(const char *path, const char *type, float *values, mw_error *err)
{
    const mw_gguf_tensor tensor = {"w", type, MW_SHAPE(ROWS, ROW)};
    return mw_gguf_write(path, &(mw_gguf_file){.tensors = &tensor, .tensor_count = 1, .source = give, .user = values},
                         err);
}

/* ---- values ---- */

static void test_values_come_back_as_notes_and_arrays(void)
{
    char folder[512];
    mw_error err = {0};
    const uint32_t number = 7;
    const uint8_t flag = 1;
    const float real = 0.5F;
    const char *text = "a \"text\"", *words[] = {"one", "", "three \xc3\xa9"};
    const int32_t kinds[] = {1, -2, 3};
    const mw_gguf_value values[] = {{"a.text", "string", false, 1, &text}, {"a.number", "u32", false, 1, &number},
                                    {"a.flag", "bool", false, 1, &flag},   {"a.real", "f32", false, 1, &real},
                                    {"a.words", "string", true, 3, words}, {"a.kinds", "i32", true, 3, kinds},
                                    {"a.none", "string", true, 0, NULL}};
    REQUIRE(folder_enter(folder));
    mw_gguf_write("x.gguf", &(mw_gguf_file){.values = values, .value_count = 7}, &err);
    mw_tensors *t = mw_tensors_open("x.gguf", &err);
    REQUIRE(CHECK_OK(err));
    CHECK(strcmp(mw_tensors_note_find(t, "a.text"), text) == 0 &&
          strcmp(mw_tensors_note_find(t, "a.number"), "7") == 0);
    CHECK(strcmp(mw_tensors_note_find(t, "a.flag"), "true") == 0 &&
          strcmp(mw_tensors_note_find(t, "a.real"), "0.5") == 0);
    mw_tensors_array a = {0};
    for (int twice = 0; twice < 2; twice++) {
        mw_tensors_read_array(t, "a.words", &a, &err);
        CHECK(strcmp(a.type, "string") == 0 && a.count == 3 && a.ends[0] == 3 && a.ends[1] == 3 && a.ends[2] == 11);
        CHECK(memcmp(a.data, "onethree \xc3\xa9", 11) == 0);
    }
    mw_tensors_read_array(t, "a.kinds", &a, &err);
    CHECK(strcmp(a.type, "i32") == 0 && a.count == 3 && a.ends == NULL && memcmp(a.data, kinds, sizeof kinds) == 0);
    mw_tensors_read_array(t, "a.none", &a, &err);
    CHECK_INT(a.count, 0);
    CHECK_OK(err);
    mw_tensors_read_array(t, "a.number", &a, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "no array \"a.number\"");
    mw_tensors_destroy(t);
    folder_leave(folder);
}

/* ---- blocks ---- */

static double largest_of(const float *block)
{
    double largest = 0.0;
    for (int i = 0; i < 32; i++)
        largest = fmax(largest, fabs((double)block[i]));
    return largest;
}

/* Nearest code of the block's range; of 4 bits the end of the range that the largest element has, is exact. */
static void check_block(const char *type, const float *in, const float *out)
{
    const double largest = largest_of(in), codes = strcmp(type, "Q8_0") == 0 ? 127.0 : 8.0;
    const double step = largest / codes;
    for (int i = 0; i < 32; i++) {
        const double miss = fabs((double)in[i] - (double)out[i]);
        const bool has_end = codes == 8.0 && miss > 0.5 * step;
        check_note(miss <= (has_end ? 1.0 : 0.5) * step + largest * 0x1p-10, __FILE__, __LINE__,
                   "%s: %g became %g with steps of %g", type, (double)in[i], (double)out[i], step);
    }
}

static void test_blocks_are_within_a_step(void)
{
    static const char *const types[] = {"Q8_0", "Q4_0"};
    char folder[512];
    mw_error err = {0};
    float in[COUNT], out[COUNT];
    REQUIRE(folder_enter(folder));
    fill(in);
    for (int i = 0; i < 2; i++) {
        write_one("x.gguf", types[i], in, &err);
        mw_tensors *t = mw_tensors_open("x.gguf", &err);
        mw_tensors_read(t, "w", MW_F32, out, COUNT, &err);
        CHECK_OK(err);
        CHECK(strcmp(mw_tensors_at(t, 0)->stored, types[i]) == 0);
        for (int b = 0; b < COUNT; b += 32)
            check_block(types[i], in + b, out + b);
        mw_tensors_destroy(t);
    }
    folder_leave(folder);
}

/* ---- refusals ---- */

static void refuse_element(const char *type, float value, const char *part)
{
    mw_error err = {0};
    float in[COUNT];
    struct stat found;
    fill(in);
    in[5] = value;
    write_one("bad.gguf", type, in, &err);
    CHECK_ERROR(err, MW_ERROR_NUMERIC, part);
    CHECK(stat("bad.gguf", &found) != 0);
}

static void refuse_file(const mw_gguf_file *file, mw_status status, const char *part)
{
    mw_error err = {0};
    struct stat found;
    mw_gguf_write("bad.gguf", file, &err);
    CHECK_ERROR(err, status, part);
    CHECK(stat("bad.gguf", &found) != 0);
}

static void test_what_gguf_does_not_hold_is_refused(void)
{
    char folder[512];
    float in[COUNT];
    const uint32_t n = 1;
    const mw_gguf_value twice[] = {{"k", "u32", false, 1, &n}, {"k", "u32", false, 1, &n}};
    const mw_gguf_value wrong[] = {{"k", "f16", false, 1, &n}, {"k", "u32", true, 2, NULL}};
    const mw_gguf_tensor same[] = {{"w", "F32", MW_SHAPE(2)}, {"w", "F32", MW_SHAPE(2)}};
    const mw_gguf_tensor shapes[] = {{"w", "Q8_0", MW_SHAPE(4, 33)},
                                     {"w", "Q3_K", MW_SHAPE(4, 32)},
                                     {"w", "F32", MW_SHAPE(INT64_MAX, INT64_MAX)},
                                     {"w", "F32", MW_SHAPE(1, 1, 1, 1, 1)},
                                     {NULL, "F32", MW_SHAPE(1)}};
    REQUIRE(folder_enter(folder));
    refuse_element("F32", NAN, "element 5 of \"w\" is nan");
    refuse_element("F16", 70000.0F, "element 5");
    refuse_element("Q8_0", 9e6F, "Q8_0");
    refuse_element("BF16", INFINITY, "element 5");
    fill(in);
    refuse_file(&(mw_gguf_file){.values = twice, .value_count = 2}, MW_ERROR_ARGUMENT, "\"k\" is there twice");
    refuse_file(&(mw_gguf_file){.values = wrong, .value_count = 1}, MW_ERROR_ARGUMENT,
                "a type that GGUF does not have");
    refuse_file(&(mw_gguf_file){.values = wrong + 1, .value_count = 1}, MW_ERROR_ARGUMENT, "no value");
    refuse_file(&(mw_gguf_file){.tensors = same, .tensor_count = 2, .source = give, .user = in}, MW_ERROR_ARGUMENT,
                "\"w\" is there twice");
    const mw_status statuses[] = {MW_ERROR_SHAPE, MW_ERROR_ARGUMENT, MW_ERROR_SHAPE, MW_ERROR_SHAPE, MW_ERROR_ARGUMENT};
    const char *const parts[] = {"whole blocks", "Q3_K", "too large", "too large", "mw_gguf_write"};
    for (int i = 0; i < 5; i++)
        refuse_file(&(mw_gguf_file){.tensors = &shapes[i], .tensor_count = 1, .source = give, .user = in}, statuses[i],
                    parts[i]);
    folder_leave(folder);
}

int main(void)
{
    RUN(test_values_come_back_as_notes_and_arrays);
    RUN(test_blocks_are_within_a_step);
    RUN(test_what_gguf_does_not_hold_is_refused);
    return check_finish();
}
