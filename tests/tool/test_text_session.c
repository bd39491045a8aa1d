/* Every line of docs/text.md that calls mw, as it stands there and in that order, by a shell, on a small model of the
 * document's names. What the lines leave is read again. */
#include "support/check.h"
#include "support/child.h"
#include "support/folder.h"
#include "support/on_engine.h"

#include "base/file/file.h"
#include "base/text/text.h"

#include <millwright/text.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINES_MOST = 64, LINE_BYTES = 400 };

static char lines[LINES_MOST][LINE_BYTES];
static int line_count;

/* ---- the lines ---- */

static void take_line(const char *line, size_t size)
{
    if (CHECK(line_count < LINES_MOST && size < LINE_BYTES))
        snprintf(lines[line_count++], LINE_BYTES, "%.*s", (int)size, line);
}

/* Blocks that are set in, and calls within a sentence that have all their words: `mw tokens FOLDER --out ..`. */
static void read_document(void)
{
    char *text = NULL;
    size_t size = 0;
    mw_error err = {0};
    mw__file_read(NULL, MW_TESTS_DIR "/../docs/text.md", SIZE_MAX, &text, &size, &err);
    REQUIRE(CHECK_OK(err));
    for (const char *at = text, *end; *at != '\0'; at = *end == '\0' ? end : end + 1) {
        end = at + strcspn(at, "\n");
        const char *call = strstr(at, "`mw "), *close = call != NULL ? strchr(call + 1, '`') : NULL;
        if (strncmp(at, "    mw ", 7) == 0)
            take_line(at + 4, (size_t)(end - at) - 4);
        else if (call != NULL && call < end && close != NULL && memchr(call, '/', (size_t)(close - call)) != NULL)
            take_line(call + 1, (size_t)(close - call) - 1);
    }
    mw__free(mw__allocator_default(), text);
}

/* ---- what they are about ---- */

/* A network of the form that all files have a place for, with new weights. */
static void write_weights(mw_error *err)
{
    mw_text_config config;
    mw_text_graph_options form = mw_text_graph_defaults();
    form.tokens = 8;
    form.loss = true;
    mw_text_config_read("SmolLM2-135M", &config, err);
    mw_graph *graph = mw_text_graph(&config, &form, err);
    mw_trainer *trainer = engine_trainer(mw_graph_find(graph, "loss"), mw_sgd(0.1F), MW_DEVICE_CPU, 1, err);
    mw_trainer_save_weights(trainer, "SmolLM2-135M/model.safetensors", err);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

static void write_notes(const char *path)
{
    static const char *const words[] = {"the ", "day ",   "was ", "long, ", "and ",
                                        "I ",   "wrote ", "of ",  "rain ",  "again.\n"};
    mw__text text;
    mw__text_init(&text, NULL);
    for (unsigned i = 0, drawn = 7; i < 3000; i++, drawn = drawn * 1103515245 + 12345)
        mw__text_puts(&text, words[drawn / 65536 % 10]);
    folder_put(path, text.data);
    mw__text_deinit(&text);
}

static void copy_tokenizer(const char *to)
{
    char *text = NULL;
    size_t size = 0;
    mw_error err = {0};
    mw__file_read(NULL, MW_TESTS_DIR "/text/vectors/llama3.json", SIZE_MAX, &text, &size, &err);
    mw__file_write(NULL, to, text, size, false, &err);
    mw__free(mw__allocator_default(), text);
    CHECK_OK(err);
}

static void run_line(const char *line)
{
    char command[LINE_BYTES + 64];
    snprintf(command, sizeof command, "PATH=\"$PWD/bin:$PATH\"; { %s\n} >said 2>&1 </dev/null", line);
    const int code = system(command);
    char *said = NULL;
    size_t size = 0;
    mw_error err = {0};
    mw__file_read(NULL, "said", SIZE_MAX, &said, &size, &err);
    const bool left_out = said != NULL && strstr(said, "protobuf-c") != NULL; /* of this build */
    check_note(code == 0 || left_out, __FILE__, __LINE__, "%s: %s", line, said != NULL ? said : "");
    mw__free(mw__allocator_default(), said);
}

static void make_files(void)
{
    mw_error err = {0};
    REQUIRE(mkdir("bin", 0777) == 0 && mkdir("SmolLM2-135M", 0777) == 0 && mkdir("data", 0777) == 0);
    REQUIRE(symlink(MW_TOOL, "bin/mw") == 0);
    folder_put("SmolLM2-135M/config.json",
               "{\"model_type\": \"llama\", \"hidden_size\": 32, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
               "\"num_key_value_heads\": 2, \"intermediate_size\": 64, \"vocab_size\": 960, "
               "\"max_position_embeddings\": 256, \"rms_norm_eps\": 1e-5, \"rope_theta\": 10000.0, \"hidden_act\": "
               "\"silu\"}");
    copy_tokenizer("SmolLM2-135M/tokenizer.json");
    copy_tokenizer("tokenizer.json");
    write_weights(&err);
    CHECK_OK(err);
    write_notes("notes.txt");
    write_notes("data/one.txt");
    write_notes("data/two.txt");
    run_line("mw convert SmolLM2-135M stories15M.bin");
    run_line("cp -R SmolLM2-135M llama-folder");
    run_line("cp -R " MW_TESTS_DIR "/text/models/minilm all-MiniLM-L6-v2");
}

/* ---- what they leave ---- */

static void check_model(const char *path)
{
    mw_error err = {0};
    mw_generate_options o = mw_generate_defaults();
    o.tokens = 3;
    mw_text_model *model = mw_text_model_open(path, NULL, &err);
    char *text = model != NULL ? mw_text_model_generate(model, "the day", &o, &err) : NULL;
    check_note(text != NULL, __FILE__, __LINE__, "%s: %s", path, err.message);
    mw_string_free(text);
    mw_text_model_destroy(model);
}

static void test_the_lines_of_the_document_do_what_it_says(void)
{
    static const char *const models[] = {"tuned",       "tuned.gguf",   "smol.gguf", "notes.gguf",
                                         "smol-folder", "stories.gguf", "llama.bin"};
    static const char *const files[] = {"run/report.html", "run/metrics.jsonl",     "notes.txt.tokens",
                                        "train.bin",       "run/model/config.json", "vectors.npy"};
    char folder[512];
    struct stat found;
    if (!child_can_start(MW_TOOL))
        SKIP("an emulator runs this test, and no other program");
    REQUIRE(folder_enter(folder));
    read_document();
    CHECK(line_count >= 18);
    make_files();
    for (int i = 0; i < line_count; i++)
        run_line(lines[i]);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        check_note(stat(files[i], &found) == 0, __FILE__, __LINE__, "%s is there", files[i]);
    copy_tokenizer("tokenizer.json"); /* the last line learned another */
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        check_model(models[i]);
    folder_leave(folder);
}

int main(void)
{
    RUN(test_the_lines_of_the_document_do_what_it_says);
    return check_finish();
}
