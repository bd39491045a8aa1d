/* The examples of texts, as a shell runs them, on models of the tests: what they write is a folder that writes texts.
 */
#include "base/file/file.h"
#include "base/text/text.h"
#include "support/check.h"
#include "support/child.h"
#include "support/folder.h"

#include <millwright/text.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void copy_file(const char *from, const char *to)
{
    char path[600], *data = NULL;
    size_t size = 0;
    mw_error err = {0};
    snprintf(path, sizeof path, MW_TESTS_DIR "/text/models/%s", from);
    mw__file_read(NULL, path, SIZE_MAX, &data, &size, &err);
    mw__file_write(NULL, to, data, size, false, &err);
    mw__free(mw__allocator_default(), data);
    CHECK_OK(err);
}

static void write_texts(void)
{
    mw__text text;
    mw__text_init(&text, NULL);
    for (int i = 0; i < 3000; i++)
        mw__text_printf(&text, "%c", 'a' + i * i % 11 + i % 7);
    folder_put("notes.txt", text.data);
    mw__text_deinit(&text);
    folder_put("talks.jsonl", "{\"messages\": [{\"role\": \"user\", \"content\": \"abc\"}, {\"role\": \"assistant\", "
                              "\"content\": \"cba\"}]}\n{\"messages\": [{\"role\": \"user\", \"content\": \"d\"}, "
                              "{\"role\": \"assistant\", \"content\": \"dd\"}]}\n");
}

static void check_writes(const char *folder)
{
    mw_error err = {0};
    mw_generate_options o = mw_generate_defaults();
    o.tokens = 5;
    mw_text_model *model = mw_text_model_open(folder, NULL, &err);
    char *text = model != NULL ? mw_text_model_generate(model, "abc", &o, &err) : NULL;
    CHECK_OK(err);
    CHECK(text != NULL);
    mw_string_free(text);
    mw_text_model_destroy(model);
}

static void check_run(const char *command, const char *folder)
{
    char line[1200];
    snprintf(line, sizeof line, MW_EXAMPLES_BIN_DIR "/%s >said.txt 2>&1", command);
    check_note(system(line) == 0, __FILE__, __LINE__, "%s", line);
    check_writes(folder);
}

static void test_examples_write_folders_that_write_texts(void)
{
    char folder[512];
    if (!child_can_start(MW_EXAMPLES_BIN_DIR "/stories"))
        SKIP("an emulator runs this test, and no other program");
    REQUIRE(folder_enter(folder));
    REQUIRE(mkdir("base", 0777) == 0 && mkdir("new", 0777) == 0);
    copy_file("llama/config.json", "base/config.json");
    copy_file("llama/model.safetensors", "base/model.safetensors");
    copy_file("llama/tokenizer.json", "base/tokenizer.json");
    copy_file("llama/tokenizer.json", "new/tokenizer.json");
    folder_put("base/tokenizer_config.json",
               "{\"chat_template\": \"{% for m in messages %}<|im_start|><|im_end|>{% endfor %}\"}");
    write_texts();
    check_run("gpt2_finetune base notes.txt tuned 1 16", "tuned");
    check_run("chat_lora base talks.jsonl taught 2", "taught");
    const char *const texts[] = {"notes.txt"};
    mw_error err = {0};
    mw_text_data_write(texts, 1, "new", "notes.bin", NULL, NULL, &err);
    CHECK_OK(err);
    check_run("stories new notes.bin 1", "new");
    folder_leave(folder);
}

/* The line that is the question has the cosine 1, up to upper case, and is the first. */
static void test_the_nearest_line_is_the_one_that_is_asked_for(void)
{
    char folder[512], *said = NULL;
    size_t size = 0;
    mw_error err = {0};
    if (!child_can_start(MW_EXAMPLES_BIN_DIR "/embeddings"))
        SKIP("an emulator runs this test, and no other program");
    REQUIRE(folder_enter(folder));
    folder_put("lines.txt", "hide\n\nabcdef\nA bad cab\nfaded\n");
    const char *command =
        MW_EXAMPLES_BIN_DIR "/embeddings " MW_TESTS_DIR "/text/models/minilm lines.txt \"a bad CAB\" 2 >said.txt 2>&1";
    CHECK(system(command) == 0);
    mw__file_read(NULL, "said.txt", SIZE_MAX, &said, &size, &err);
    REQUIRE(CHECK_OK(err));
    check_note(strstr(said, " 1.000  A bad cab\n") == said, __FILE__, __LINE__, "%s", said);
    size_t lines = 0;
    for (const char *at = said; *at != '\0'; at++)
        lines += *at == '\n';
    CHECK_INT(lines, 2);
    mw__free(mw__allocator_default(), said);
    folder_leave(folder);
}

int main(void)
{
    if (access(MW_EXAMPLES_BIN_DIR "/stories", X_OK) != 0) {
        printf("no examples are built\n");
        return 0;
    }
    RUN(test_examples_write_folders_that_write_texts);
    RUN(test_the_nearest_line_is_the_one_that_is_asked_for);
    return check_finish();
}
