/* mw inspect of words where there is no file, and of versions. */
#include "support/check.h"
#include "support/folder.h"
#include "tool/shell.h"

/* A chain, and a task of 12 words: a header, then the word of a 3 x 3 kernel and the type 0. */
static const char words[] = "1 0 0 0\n"
                            "000c0005 0 0x68 0 fff868 0 0 1f 50001\n"
                            "82000000a\n"; /* one digit too many, for the refusal */

static const char good[] = "1 0 0 0\n"
                           "000d0005 0 0x68 0 fff868 0 0 1f 50001\n"
                           "0000000a 5042a0c3 0000000f 00000000\n";

static void test_words_are_shown(void)
{
    folder_put("good.words", good);
    CHECK_MW(0, "ConvCfg            0x5042a0c3  kernel_w 3, kernel_h 3, stride_w 1", NULL, "inspect", "--words", "24",
             "good.words");
    CHECK_MW(0, "decoded            true", NULL, "inspect", "--words", "24", "good.words");
    CHECK_MW(0, "common[0x000f]     0x0", NULL, "inspect", "--words", "17", "good.words");
    CHECK_MW(0, "\"kernel_h\": 3", NULL, "inspect", "--words", "24", "--json", "good.words");
}

static void test_what_is_no_word_is_refused(void)
{
    folder_put("bad.words", words);
    CHECK_MW(1, NULL, "bad.words: word 14 is no hexadecimal number of 32 bits", "inspect", "--words", "24",
             "bad.words");
    CHECK_MW(1, NULL, "no source names version 99", "inspect", "--words", "99", "good.words");
    CHECK_MW(1, NULL, "how tasks are written is not published", "inspect", "--words", "31", "good.words");
    CHECK_MW(2, NULL, "a file is needed, or --versions", "inspect");
    CHECK_MW(2, NULL, "--versions reads no file", "inspect", "--versions", "good.words");
    CHECK_MW(2, NULL, "--words", "inspect", "--versions", "--words", "24");
}

static void test_versions_are_listed(void)
{
    CHECK_MW(0, "11  v24  order 10  H18G (M6), H19", NULL, "inspect", "--versions");
    CHECK_MW(0, "registers: NE 1240 1242 1245; the rest as v20", NULL, "inspect", "--versions");
    shell_result json = MW("inspect", "--versions", "--json");
    CHECK_INT(json.code, 0);
    CHECK(shell_is_json(json.out));
    CHECK_CONTAINS(json.out, "\"version\": 36");
    shell_free(&json);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_words_are_shown);
    RUN(test_what_is_no_word_is_refused);
    RUN(test_versions_are_listed);
    folder_leave(folder);
    return check_finish();
}
