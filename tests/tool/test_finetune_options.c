/* Every option of mw finetune, from the tool's own table, in every form of the command: it changes what is written or
 * said, or is refused by name before anything is. An option that does neither fails. */
#include "support/check.h"
#include "support/folder.h"
#include "tool/shell.h"

#include "base/file/file.h"
#include "base/number/hash.h"
#include "base/text/text.h"

#include <dirent.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <sys/stat.h>

/* ---- files ---- */

static void copy_file(const char *name, const char *to)
{
    char from[600], *data = NULL;
    size_t size = 0;
    mw_error err = {0};
    snprintf(from, sizeof from, MW_TESTS_DIR "/text/models/llama/%s", name);
    mw__file_read(NULL, from, SIZE_MAX, &data, &size, &err);
    mw__file_write(NULL, to, data, size, false, &err);
    mw__free(mw__allocator_default(), data);
    CHECK_OK(err);
}

static void put_repeated(const char *path, int count, const char *format)
{
    mw__text text;
    mw__text_init(&text, NULL);
    for (int i = 0; i < count; i++) {
        const char a = (char)('a' + i * i % 11 + i % 7), b = (char)('a' + i % 13);
        mw__text_printf(&text, format, a, b, a);
    }
    folder_put(path, text.data);
    mw__text_deinit(&text);
}

/* Documents of 3 to 52 tokens. */
static void write_lengths(void)
{
    mw__text text;
    mw__text_init(&text, NULL);
    for (int i = 0; i < 40; i++)
        mw__text_printf(&text, "{\"text\": \"%.*s\"}\n", 2 + i * i % 51,
                        "abcdefghijklmnopqrstuvwxyzzyxwvutsrqponmlkjihgfedcba");
    folder_put("long.jsonl", text.data);
    mw__text_deinit(&text);
}

static void write_files(void)
{
    REQUIRE(mkdir("base", 0777) == 0);
    copy_file("config.json", "base/config.json");
    copy_file("model.safetensors", "base/model.safetensors");
    copy_file("tokenizer.json", "base/tokenizer.json");
    folder_put("base/tokenizer_config.json",
               "{\"eos_token\": \"e\", \"chat_template\": \"<|user|> <|assistant|> eos_token\"}");
    put_repeated("notes.txt", 300, "%c%c%c");
    put_repeated("other.txt", 300, "%cx%cy%c");
    put_repeated("lines.jsonl", 40, "{\"text\": \"%cab%ccd%c\"}\n");
    write_lengths();
    put_repeated("talks.jsonl", 40,
                 "{\"messages\": [{\"role\": \"user\", \"content\": \"%c%c\"}, {\"role\": \"assistant\", "
                 "\"content\": \"%c\"}]}\n");
    FILE *csv = fopen("points.csv", "w");
    REQUIRE(csv != NULL);
    fputs("a,b,kind\n", csv);
    for (int i = 0; i < 24; i++)
        fprintf(csv, "%d,%d,%s\n", i % 5, i % 7, i % 2 != 0 ? "ant" : "bee");
    fclose(csv);
    folder_put("net.json", "{\"network\": [{\"dense\": \"classes\"}], \"epochs\": 1, \"batch\": 8}");
    CHECK_MW(0, NULL, NULL, "train", "net.json", "--data", "points.csv", "-o", "net", "-q");
    CHECK_MW(0, NULL, NULL, "tokens", "base", "--out", "raw.bin", "notes.txt");
    CHECK_MW(0, NULL, NULL, "finetune", "base", "--text", "lines.jsonl", "--tokens", "8", "-o", "first", "-q");
    CHECK(rename("lines.jsonl.tokens", "lines.tokens") == 0);
}

/* ---- what a run leaves ---- */

/* What has times in it, or how it was called, is no effect. */
static bool is_skipped(const char *name)
{
    static const char *const names[] = {"about.json", "metrics.jsonl", "checkpoint.safetensors"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return name[0] == '.';
}

/* Names and contents, in whatever order. */
static uint64_t hash_folder(const char *path)
{
    uint64_t sum = 0;
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char inside[600], *data = NULL;
        size_t size = 0;
        struct stat found;
        mw_error err = {0};
        snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
        if (is_skipped(entry->d_name) || stat(inside, &found) != 0)
            continue;
        if (!S_ISDIR(found.st_mode))
            mw__file_read(NULL, inside, SIZE_MAX, &data, &size, &err);
        const uint64_t own = S_ISDIR(found.st_mode) ? hash_folder(inside) : mw__hash64(data, size, 0);
        sum += mw__hash64(inside, strlen(inside), own);
        mw__free(mw__allocator_default(), data);
    }
    if (folder != NULL)
        closedir(folder);
    return sum;
}

/* What is said, without the lines that have times. */
static uint64_t hash_said(const char *text)
{
    uint64_t hash = 0;
    for (const char *end; *text != '\0'; text = end) {
        end = text + strcspn(text, "\n");
        end += *end != '\0';
        if (strncmp(text, "epoch", 5) != 0)
            hash = mw__hash64(text, (size_t)(end - text), hash);
    }
    return hash;
}

/* ---- forms and options ---- */

enum { WORDS_MOST = 24 };

/* The words of a form, and a pattern that some of the model's weights have. */
static const struct form {
    const char *name, *words[10], *layers;
} forms[] = {
    {"data", {"net", "--data", "points.csv", "--batch", "5"}, "*weight"},
    {"text", {"base", "--text", "notes.txt", "--tokens", "16"}, "*q_proj.weight"},
    {"text, adapters", {"base", "--text", "notes.txt", "--tokens", "16", "--lora", "4"}, "*k_proj.weight"},
    {"lines", {"base", "--text", "lines.jsonl", "--tokens", "8"}, "*q_proj.weight"},
    {"lines, padded", {"base", "--text", "lines.jsonl", "--tokens", "8", "--padded"}, "*q_proj.weight"},
    {"lines of many lengths", {"base", "--text", "long.jsonl", "--tokens", "64", "--padded"}, "*q_proj.weight"},
    {"conversations", {"base", "--text", "talks.jsonl", "--tokens", "64"}, "*q_proj.weight"},
    {"raw tokens", {"base", "--text", "raw.bin", "--tokens", "16"}, "*q_proj.weight"},
    {"kept tokens", {"base", "--text", "lines.tokens", "--tokens", "8"}, "*q_proj.weight"},
    {"no samples", {"base", "--text", "notes.txt", "--tokens", "16", "--no-samples"}, "*q_proj.weight"},
};
enum { FORMS = sizeof forms / sizeof *forms };

/* Values of options that are not numbers; a number is 2, and a choice the first of its row. */
static const struct {
    const char *option, *value;
} values[] = {{"--text", "other.txt"}, {"--data", "points.csv"}, {"--cache", "o/kept"},   {"--prompt", "abc"},
              {"--out", "o/other"},    {"--run", "o/again"},     {"--lr", "0.01"},        {"--memory-limit", "1000"},
              {"--device", "ane"},     {"--last", "1"},          {"--rate", "*weight=3"}, {"--rate-decay", "0.5"},
              {"--ignore", "0"}};

/* What changes how a run is computed, and not one bit of what comes out; or says what the data says already. */
static const struct {
    const char *option, *form; /* NULL: all */
} silent[] = {{"--threads", NULL}, {"--segments", NULL}, {"--loss", "data"}, {"--data", "data"}};

static const char *value_of(const struct form *form, const char *option, const char *kind, const char *choices,
                            char room[64])
{
    if (strcmp(kind, "flag") == 0)
        return NULL;
    if (strcmp(option, "--layers") == 0)
        return form->layers;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (strcmp(values[i].option, option) == 0)
            return values[i].value;
    snprintf(room, 64, "%.*s", (int)strcspn(choices, ","), choices);
    return choices[0] != '\0' ? room : "2";
}

static bool is_silent(const struct form *form, const char *option)
{
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
        if (strcmp(silent[i].option, option) == 0 &&
            (silent[i].form == NULL || strcmp(silent[i].form, form->name) == 0))
            return true;
    return false;
}

/* The words of a form with an option in place of its own, if it has it. */
static void add_words(const struct form *form, const char *option, const char *value, const char **words)
{
    static const char *const outputs[] = {"--out", "o/tuned",   "--run", "o/run", "--epochs",
                                          "1",     "--threads", "1",     NULL};
    size_t count = 0;
    words[count++] = "finetune";
    for (const char *const *at = form->words; *at != NULL; at++) {
        if (strcmp(*at, option) == 0)
            at += value != NULL;
        else
            words[count++] = *at;
    }
    for (const char *const *at = outputs; *at != NULL; at += 2)
        if (strcmp(*at, option) != 0) {
            words[count++] = at[0];
            words[count++] = at[1];
        }
    words[count++] = option;
    words[count++] = value;
    words[count] = NULL;
}

/* ---- the sweep ---- */

typedef struct outcome {
    int code;
    uint64_t hash; /* of what was said and written */
    bool wrote, named;
} outcome;

static outcome run_words(const char *const *words, const char *option)
{
    folder_empty("o");
    shell_result r = shell_mw(words);
    outcome out = {.code = r.code, .hash = hash_folder("o") + hash_said(r.out)};
    out.wrote = folder_count("o") > 0;
    out.named = strstr(r.errs, "no effect") != NULL && (option == NULL || strstr(r.errs, option + 2) != NULL);
    if (r.code != 0 && !out.named)
        check_note(false, __FILE__, __LINE__, "%s: %s", option != NULL ? option : "", r.errs);
    shell_free(&r);
    return out;
}

static bool check_option(const struct form *form, uint64_t plain, const char *option, const char *value)
{
    const char *words[WORDS_MOST];
    add_words(form, option, value, words);
    const outcome with = run_words(words, option);
    const bool refused = with.code != 0 && with.named && !with.wrote;
    const bool effect = with.code == 0 && (with.hash != plain || is_silent(form, option));
    check_note(refused || effect, __FILE__, __LINE__, "%s: %s %s %s", form->name, option, value != NULL ? value : "",
               with.code == 0 ? "is taken, and does nothing" : "was not refused as it should be");
    return effect;
}

/* A row of `mw help options`: command, option, kind, range, choices, what it needs. */
enum { COMMAND, OPTION, KIND, RANGE, CHOICES, NEEDS, CELLS };

static char *next_row(char *text, char *cells[CELLS])
{
    for (int i = 0; i < CELLS; i++) {
        const size_t length = strcspn(text, "\t\n");
        cells[i] = text;
        const bool last = text[length] != '\t';
        text[length] = '\0';
        text += length + 1;
        if (last)
            break;
    }
    return text;
}

/* `has` [FORMS]: whether it has an effect there. */
static void check_row(char *cells[CELLS], const uint64_t plain[FORMS])
{
    int effects = 0;
    for (size_t i = 0; i < FORMS; i++) {
        char room[64];
        const struct form *form = &forms[i];
        const char *value = value_of(form, cells[OPTION], cells[KIND], cells[CHOICES], room);
        bool own = false;
        for (const char *const *at = form->words; *at != NULL; at++)
            own = own || strcmp(*at, cells[OPTION]) == 0;
        if (own && value == NULL) /* a flag that the form is about */
            effects++;
        else
            effects += check_option(form, plain[i], cells[OPTION], value);
    }
    check_note(effects > 0, __FILE__, __LINE__, "%s has an effect in some form", cells[OPTION]);
}

static void test_every_option_has_an_effect_or_is_refused_by_name(void)
{
    uint64_t plain[FORMS];
    shell_result r = MW("help", "options");
    int rows = 0;
    REQUIRE(mkdir("o", 0777) == 0);
    for (size_t i = 0; i < FORMS; i++) {
        const char *words[WORDS_MOST];
        add_words(&forms[i], "--threads", "1", words);
        const outcome first = run_words(words, NULL), second = run_words(words, NULL);
        CHECK_INT(first.code, 0);
        check_note(first.hash == second.hash, __FILE__, __LINE__, "%s: the same run twice", forms[i].name);
        plain[i] = first.hash;
    }
    for (char *at = r.out, *cells[CELLS] = {"", "", "", "", "", ""}; *at != '\0';) {
        at = next_row(at, cells);
        if (strcmp(cells[COMMAND], "finetune") == 0) {
            check_row(cells, plain);
            rows++;
        }
    }
    CHECK(rows > 20);
    shell_free(&r);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(write_files);
    RUN(test_every_option_has_an_effect_or_is_refused_by_name);
    folder_leave(folder);
    return check_finish();
}
