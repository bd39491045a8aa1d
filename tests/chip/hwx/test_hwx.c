/* The public .hwx files: read, and written back. */
#include "chip/hwx/hwx.h"
#include "chip/hwx/hwx_files.h"
#include "chip/hwx/operation.h"
#include "chip/hwx/stab.h"
#include "support/check.h"

#include <millwright/chip_all.h>
#include <millwright/graph.h>
#include <stdlib.h>

#define EACH_FILE(file_, bytes_, size_)                                                                                \
    size_t size_ = 0;                                                                                                  \
    uint8_t *bytes_ = NULL;                                                                                            \
    if (!hwx_files_present())                                                                                          \
        SKIP("the public .hwx files are not in %s", MW_SHARED_DATA);                                                   \
    for (const hwx_file *file_ = hwx_files;                                                                            \
         file_ < hwx_files + HWX_FILES && (bytes_ = hwx_file_read(file_, &size_)) != NULL; file_++, free(bytes_))

static void test_files_come_back_byte_for_byte(void)
{
    EACH_FILE(file, bytes, size)
    {
        mw_error err = {0};
        void *out = NULL;
        size_t out_size = 0;
        mw_hwx *hwx = mw_hwx_parse(bytes, size, NULL, &err);
        CHECK_OK(err);
        CHECK_INT(mw_hwx_write_memory(hwx, &out, &out_size, &err), MW_OK);
        CHECK_INT(out_size, size);
        if (CHECK(out != NULL && out_size == size))
            CHECK(memcmp(out, bytes, size) == 0);
        mw_string_free(out);
        mw_hwx_destroy(hwx);
    }
}

/* Nothing of a field, name, task or content is among the bytes that are kept: what is written there was made anew. */
static void test_written_bytes_are_not_copies_of_the_input(void)
{
    EACH_FILE(file, bytes, size)
    {
        mw_error err = {0};
        mw_hwx *hwx = mw_hwx_parse(bytes, size, NULL, &err);
        if (!CHECK_OK(err))
            continue;
        size_t set = 0, kept = 0;
        for (size_t i = 0; i < size; i++) {
            set += bytes[i] != 0;
            kept += hwx->kept[i] != 0;
        }
        CHECK(set > 1000);
        CHECK_INT(kept, 0);
        CHECK_INT(hwx->coverage.kept, 0);
        mw_hwx_destroy(hwx);
    }
}

static void test_files_hold_what_the_documents_say(void)
{
    EACH_FILE(file, bytes, size)
    {
        mw_error err = {0};
        mw_hwx *hwx = mw_hwx_parse(bytes, size, NULL, &err);
        const mw_hwx_info *info = mw_hwx_get_info(hwx);
        if (!CHECK_OK(err) || !CHECK(info != NULL))
            continue;
        CHECK_INT(info->chip, MW_CHIP_H13);
        CHECK_STR(info->chip_name, "h13");
        CHECK_INT(info->flags, 0x200000);
        CHECK_STR(info->compiler, "zin_ane_compiler v4.2.1");
        CHECK_STR(info->procedure, "net");
        CHECK_INT(hwx->task_count, file->tasks);
        CHECK(hwx->task_note == NULL);
        char operation[96];
        mw__hwx_operation(hwx, 0, operation);
        CHECK_STR(operation, file->operation);
        const mw__hwx_section *text = mw__hwx_section_find(hwx, "__TEXT", "__text");
        if (CHECK(text != NULL)) {
            const mw_hwx_task *last = mw_hwx_task_at(hwx, file->tasks - 1);
            CHECK_INT(last->offset + last->word_count * 4, text->public.size);
            CHECK_INT(last->flags & 2, 2);
            CHECK_INT(text->public.relocation_count, file->relocations);
        }
        CHECK(mw_hwx_task_at(hwx, file->tasks) == NULL);
        mw_hwx_destroy(hwx);
    }
}

/* ---- kernels, against what others read in these files by eye ---- */

static mw_hwx *open_file(size_t index, uint8_t **out_bytes, size_t *out_size)
{
    mw_error err = {0};
    *out_bytes = hwx_file_read(&hwx_files[index], out_size);
    mw_hwx *hwx = *out_bytes != NULL ? mw_hwx_parse(*out_bytes, *out_size, NULL, &err) : NULL;
    CHECK_OK(err);
    return hwx;
}

static void test_weights_of_the_files(void)
{
    uint16_t weights[9], bias[3];
    uint8_t *bytes = NULL;
    size_t size = 0;
    mw_error err = {0};
    if (!hwx_files_present())
        SKIP("the public .hwx files are not in %s", MW_SHARED_DATA);
    mw_hwx *hwx = open_file(3, &bytes, &size); /* the halves 0 to 8, in order */
    CHECK_INT(mw_hwx_get_weights(hwx, 0, weights, 9, NULL, &err), MW_OK);
    for (size_t i = 0; i < 9; i++)
        CHECK_INT(weights[i], i);
    mw_hwx_destroy(hwx);
    free(bytes);
    hwx = open_file(4, &bytes, &size);
    CHECK_INT(mw_hwx_get_weights(hwx, 0, weights, 9, NULL, &err), MW_OK);
    for (size_t i = 0; i < 9; i++)
        CHECK_INT(weights[i], 0x4000);
    mw_hwx_destroy(hwx);
    free(bytes);
    hwx = open_file(0, &bytes, &size); /* one half a tile, 1.0: the bias, as the constants in the net's plist are */
    CHECK(mw_hwx_kernel_at(hwx, 0)->has_bias);
    CHECK_INT(mw_hwx_get_weights(hwx, 0, weights, 6, bias, &err), MW_OK);
    for (size_t i = 0; i < 6; i++)
        CHECK_INT(weights[i], 0);
    CHECK(bias[0] == 0x3c00 && bias[1] == 0x3c00);
    mw_hwx_destroy(hwx);
    free(bytes);
}

/* Where one weight of a matrix lies: g lanes, 16 engines, as mil-hwx-compiler found by known weights. */
static void test_where_a_weight_of_a_matrix_lies(void)
{
    static const struct {
        size_t file, size, lanes;
    } cases[] = {{5, 512, 32}, {6, 64, 4}};
    if (!hwx_files_present())
        SKIP("the public .hwx files are not in %s", MW_SHARED_DATA);
    for (size_t i = 0; i < 2; i++) {
        const size_t n = cases[i].size, g = cases[i].lanes, o = n * 2 / 3, c = n / 5;
        uint8_t *bytes = NULL;
        size_t size = 0, out_size = 0;
        void *out = NULL;
        mw_error err = {0};
        mw_hwx *hwx = open_file(cases[i].file, &bytes, &size);
        uint16_t *weights = calloc(n * n, sizeof *weights);
        weights[o * n + c] = 0x3c01;
        CHECK_INT(mw_hwx_kernel_at(hwx, 0)->lanes, g);
        CHECK_INT(mw_hwx_set_weights(hwx, 0, weights, n * n, NULL, &err), MW_OK);
        CHECK_INT(mw_hwx_write_memory(hwx, &out, &out_size, &err), MW_OK);
        const size_t tile = o / g, at = 0x4280 + tile * n * g * 2 + (c * g + o % g) * 2;
        bytes[at] = 0x01;
        bytes[at + 1] = 0x3c;
        CHECK(out_size == size && memcmp(out, bytes, size) == 0);
        mw_string_free(out);
        free(weights);
        mw_hwx_destroy(hwx);
        free(bytes);
    }
}

static void test_table_of_sigmoid(void)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    mw_error err = {0};
    mw_hwx_table table;
    if (!hwx_files_present())
        SKIP("the public .hwx files are not in %s", MW_SHARED_DATA);
    mw_hwx *hwx = open_file(9, &bytes, &size);
    CHECK_INT(mw_hwx_get_table(hwx, 0, &table, &err), MW_OK);
    CHECK_INT(table.spacing, 1);
    CHECK_INT(table.mode, 1);
    CHECK_NEAR(table.first, -8, 0);
    CHECK_NEAR(table.x_low, -9.9375, 0); /* ane-guide: sigmoid is clamped outside of [-9.938, 8.320] */
    CHECK_NEAR(table.x_high, 8.3203125, 0);
    for (int i = 0; i < 33; i++) {
        const double exact = 1 / (1 + exp(8 - 0.5 * i));
        CHECK_NEAR(table.knots[i], exact, exact * 0x1p-11); /* half a place of fp16 */
    }
    const double below = (double)table.slope_low * -8 + (double)table.intercept_low;
    const double above = (double)table.slope_high * 8 + (double)table.intercept_high;
    CHECK_NEAR(below, 1 / (1 + exp(8)), 3e-6);
    CHECK_NEAR(above, 1 / (1 + exp(-8)), 3e-4);
    mw_hwx_destroy(hwx);
    free(bytes);
}

/* ---- the same fact in two places of a file ---- */

static void test_symbols_and_thread_states_agree_on_ports(void)
{
    EACH_FILE(file, bytes, size)
    {
        mw_error err = {0};
        size_t ports = 0, described = 0;
        mw_hwx *hwx = mw_hwx_parse(bytes, size, NULL, &err);
        for (const mw_hwx_port *p; (p = mw_hwx_port_at(hwx, ports)) != NULL; ports++) {
            CHECK(p->base_register >= 4);
            for (size_t i = 0; mw_hwx_symbol_at(hwx, i) != NULL; i++) {
                const mw_hwx_symbol *symbol = mw_hwx_symbol_at(hwx, i);
                mw__stab stab;
                if (symbol->type == 0x0f && strcmp(symbol->name, p->symbol) == 0)
                    CHECK_INT(symbol->value, p->address);
                if (symbol->type != 0x20 || !CHECK(mw__stab_read(symbol->name, &stab)) ||
                    strncmp(symbol->name, p->name, stab.name_length) != 0 || p->name[stab.name_length] != '\0')
                    continue;
                described++;
                CHECK_INT(stab.axis_count, 4);
                CHECK_INT(stab.element, p->type);
                for (size_t k = 0; k < 4; k++) {
                    CHECK_INT(stab.axes[k].letter, "nchw"[k]);
                    CHECK_INT(stab.axes[k].extent, p->extent[k]);
                    CHECK_INT(stab.axes[k].stride, p->stride[k]);
                }
            }
        }
        CHECK_INT(described, ports);
        CHECK(ports == 2 || ports == 3);
        mw_hwx_destroy(hwx);
    }
}

/* A tile of each kernel has a symbol, and where it is live a relocation of its base in the task. */
static void test_tiles_symbols_and_relocations_agree(void)
{
    EACH_FILE(file, bytes, size)
    {
        mw_error err = {0};
        size_t named = 0, tiles = 0;
        mw_hwx *hwx = mw_hwx_parse(bytes, size, NULL, &err);
        for (size_t i = 0; mw_hwx_kernel_at(hwx, i) != NULL; i++) {
            const mw__hwx_kernel *k = &hwx->kernels[i];
            CHECK(k->public.kind != MW_HWX_OPAQUE);
            tiles += k->public.tiles;
            for (size_t t = 0; t < k->public.tiles; t++)
                for (size_t n = 0; mw_hwx_symbol_at(hwx, n) != NULL; n++)
                    named += mw_hwx_symbol_at(hwx, n)->name[0] == 'K' &&
                             mw_hwx_symbol_at(hwx, n)->value == k->section->public.address + k->tile_at[t];
        }
        CHECK_INT(mw_hwx_kernel_at(hwx, file->kernels) == NULL, 1);
        CHECK_INT(named, file->relocations);
        CHECK_INT(tiles, file->relocations);
        for (size_t i = 0; i < file->relocations; i++) {
            CHECK_INT(hwx->text->relocations[i].address, 0x74 + 4 * i);
            CHECK_INT(hwx->text->relocations[i].info, 0x05000002);
        }
        mw_hwx_destroy(hwx);
    }
}

static void test_files_become_ane_and_back(void)
{
    EACH_FILE(file, bytes, size)
    {
        mw_error err = {0};
        void *out = NULL, *again = NULL;
        size_t out_size = 0, again_size = 0;
        mw_hwx *hwx = mw_hwx_parse(bytes, size, NULL, &err);
        CHECK_INT(mw_hwx_write_ane(hwx, NULL, &out, &out_size, &err), MW_OK);
        CHECK_OK(err);
        CHECK(out != NULL && memcmp((const uint8_t *)out + 0x1000, bytes + 0x4000, out_size - 0x1000) == 0);
        mw_hwx *ane = mw_hwx_parse(out, out_size, NULL, &err);
        CHECK_OK(err);
        CHECK_INT(mw_hwx_write_memory(ane, &again, &again_size, &err), MW_OK);
        CHECK(again != NULL && again_size == out_size && memcmp(again, out, out_size) == 0);
        for (size_t i = 0; mw_hwx_port_at(ane, i) != NULL; i++) {
            const mw_hwx_port *a = mw_hwx_port_at(ane, i);
            for (size_t k = 0; mw_hwx_port_at(hwx, k) != NULL; k++) {
                const mw_hwx_port *b = mw_hwx_port_at(hwx, k);
                if (a->base_register != b->base_register)
                    continue;
                CHECK(a->is_output == b->is_output);
                CHECK(memcmp(a->extent, b->extent, sizeof a->extent) == 0);
                CHECK(memcmp(a->stride, b->stride, sizeof a->stride) == 0);
            }
        }
        mw_string_free(out);
        mw_string_free(again);
        mw_hwx_destroy(ane);
        mw_hwx_destroy(hwx);
    }
}

/* Every rule of the layout: where commands, symbols, strings and relocations stand, and in which order. */
static void test_files_are_laid_out_again(void)
{
    EACH_FILE(file, bytes, size)
    {
        mw_error err = {0};
        void *out = NULL;
        size_t out_size = 0;
        mw_hwx *hwx = mw_hwx_parse(bytes, size, NULL, &err);
        mw_hwx_write_container(hwx, &out, &out_size, &err);
        CHECK_OK(err);
        CHECK_INT(out_size, size);
        for (size_t i = 0; i < size && i < out_size; i++)
            if (!check_note(bytes[i] == ((uint8_t *)out)[i], __FILE__, __LINE__, "%s: byte 0x%zx", file->name, i))
                break;
        mw_string_free(out);
        mw_hwx_destroy(hwx);
    }
}

/* By way of a .ane names, ident and two words that nobody knows are lost: all else is equal. */
static void test_ane_becomes_a_container(void)
{
    EACH_FILE(file, bytes, size)
    {
        mw_error err = {0};
        void *out = NULL, *again = NULL;
        size_t out_size = 0, again_size = 0;
        mw_hwx *hwx = mw_hwx_parse(bytes, size, NULL, &err);
        mw_hwx_write_ane(hwx, NULL, &out, &out_size, &err);
        mw_hwx *ane = mw_hwx_parse(out, out_size, NULL, &err);
        mw_hwx_write_container(ane, &again, &again_size, &err);
        mw_hwx *made = mw_hwx_parse(again, again_size, NULL, &err);
        CHECK_OK(err);
        CHECK_INT(again_size, size);
        CHECK(made != NULL && memcmp((uint8_t *)again + 0x4000, bytes + 0x4000, size - 0x4000) == 0);
        for (size_t i = 0; made != NULL && i < MW__HWX_REGISTERS; i++)
            CHECK_INT(mw__hwx_registers(made)[i], mw__hwx_registers(hwx)[i]);
        for (size_t i = 0; made != NULL && mw_hwx_port_at(hwx, i) != NULL; i++) {
            CHECK_INT(mw_hwx_port_at(made, i)->size, mw_hwx_port_at(hwx, i)->size);
            CHECK_INT(mw_hwx_port_at(made, i)->address, mw_hwx_port_at(hwx, i)->address);
        }
        mw_string_free(out);
        mw_string_free(again);
        mw_hwx_destroy(made);
        mw_hwx_destroy(ane);
        mw_hwx_destroy(hwx);
    }
}

int main(void)
{
    RUN(test_files_come_back_byte_for_byte);
    RUN(test_written_bytes_are_not_copies_of_the_input);
    RUN(test_files_hold_what_the_documents_say);
    RUN(test_weights_of_the_files);
    RUN(test_where_a_weight_of_a_matrix_lies);
    RUN(test_table_of_sigmoid);
    RUN(test_symbols_and_thread_states_agree_on_ports);
    RUN(test_tiles_symbols_and_relocations_agree);
    RUN(test_files_become_ane_and_back);
    RUN(test_files_are_laid_out_again);
    RUN(test_ane_becomes_a_container);
    return check_finish();
}
