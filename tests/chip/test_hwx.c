/* The public .hwx files: read, and written back. */
#include "chip/hwx/hwx.h"
#include "chip/hwx_files.h"
#include "support/check.h"
#include "support/failing.h"

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
        mw_hwx *hwx = mw_hwx_read_memory(bytes, size, NULL, &err);
        CHECK_OK(err);
        CHECK_INT(mw_hwx_write_memory(hwx, &out, &out_size, &err), MW_OK);
        CHECK_INT(out_size, size);
        if (CHECK(out != NULL && out_size == size))
            CHECK(memcmp(out, bytes, size) == 0);
        mw_string_free(out);
        mw_hwx_close(hwx);
    }
}

/* Nothing of a field, name, task or content is among the bytes that are kept: what is written there was made anew. */
static void test_written_bytes_are_not_copies_of_the_input(void)
{
    EACH_FILE(file, bytes, size)
    {
        mw_error err = {0};
        mw_hwx *hwx = mw_hwx_read_memory(bytes, size, NULL, &err);
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
        mw_hwx_close(hwx);
    }
}

static void test_files_hold_what_the_documents_say(void)
{
    EACH_FILE(file, bytes, size)
    {
        mw_error err = {0};
        mw_hwx *hwx = mw_hwx_read_memory(bytes, size, NULL, &err);
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
        const mw__hwx_section *text = mw__hwx_section_find(hwx, "__TEXT", "__text");
        if (CHECK(text != NULL)) {
            const mw_hwx_task *last = mw_hwx_task_at(hwx, file->tasks - 1);
            CHECK_INT(last->offset + last->word_count * 4, text->public.size);
            CHECK_INT(last->flags & 2, 2);
            CHECK_INT(text->public.relocation_count, file->relocations);
        }
        CHECK(mw_hwx_task_at(hwx, file->tasks) == NULL);
        mw_hwx_close(hwx);
    }
}

int main(void)
{
    RUN(test_files_come_back_byte_for_byte);
    RUN(test_written_bytes_are_not_copies_of_the_input);
    RUN(test_files_hold_what_the_documents_say);
    return check_finish();
}
