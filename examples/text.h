/* A text as examples: windows of `length` characters and the characters that follow them. Not part of the library. */
#ifndef EXAMPLES_TEXT_H
#define EXAMPLES_TEXT_H

#include <dirent.h>
#include <math.h>
#include <millwright/millwright.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct text {
    unsigned char *codes; /* the text as numbers of its letters */
    size_t size;
    size_t training; /* characters that are learned from; the rest is for validation */
    int length;
    int letter_count;
    unsigned char letters[256]; /* by number */
    struct text_part {
        const struct text *source;
        size_t begin, stride;
    } parts[2]; /* training, validation */
} text;

static inline void text_append(text *t, const char *path)
{
    FILE *file = fopen(path, "rb");
    char buffer[65536];
    size_t got;
    while (file != NULL && (got = fread(buffer, 1, sizeof buffer, file)) > 0) {
        unsigned char *more = realloc(t->codes, t->size + got);
        if (more == NULL)
            break;
        memcpy(more + t->size, buffer, got);
        t->codes = more;
        t->size += got;
    }
    if (file != NULL)
        fclose(file);
}

static inline int text_is_plain(const struct dirent *entry) { return entry->d_name[0] != '.'; }

/* A file, or the files of a folder in the order of their names, but for links. */
static inline void text_load(text *t, const char *path)
{
    struct dirent **entries = NULL;
    const int count = scandir(path, &entries, text_is_plain, alphasort);
    for (int i = 0; i < count; i++) {
        char full[1024];
        struct stat status;
        snprintf(full, sizeof full, "%s/%s", path, entries[i]->d_name);
        if (lstat(full, &status) == 0 && S_ISREG(status.st_mode))
            text_append(t, full);
        free(entries[i]);
    }
    free(entries);
    struct stat status;
    if (count < 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode)) /* a device may have no end */
        text_append(t, path);
}

/* Letters become numbers in the order of the character set. */
static inline void text_number(text *t)
{
    int number[256];
    memset(number, -1, sizeof number);
    for (size_t i = 0; i < t->size; i++)
        number[t->codes[i]] = 0;
    for (int c = 0; c < 256; c++) {
        if (number[c] == 0) {
            number[c] = t->letter_count;
            t->letters[t->letter_count++] = (unsigned char)c;
        }
    }
    for (size_t i = 0; i < t->size; i++)
        t->codes[i] = (unsigned char)number[t->codes[i]];
}

static inline text text_read(const char *path, int length, mw_error *err)
{
    text t = {.length = length};
    text_load(&t, path);
    text_number(&t);
    t.training = t.size / 10 * 9;
    if (t.size < 20 * (size_t)length && err->status == MW_OK) {
        err->status = MW_ERROR_FILE;
        if (t.size == 0)
            snprintf(err->message, sizeof err->message, "no text can be read from \"%.300s\"", path);
        else
            snprintf(err->message, sizeof err->message, "\"%.300s\" has %zu characters; at least %d are needed", path,
                     t.size, 20 * length);
    }
    return t;
}

static inline void text_free(text *t) { free(t->codes); }

/* Column 0 is the window, column 1 the same one character later. */
static inline mw_status text_window(void *user, int64_t example, size_t column, void *out_data, mw_error *err)
{
    const struct text_part *part = user;
    (void)err;
    memcpy(out_data, part->source->codes + part->begin + (size_t)example * part->stride + column,
           (size_t)part->source->length);
    return MW_OK;
}

/* Windows of the training part overlap by half; those of validation do not. `t` stays where it is. */
static inline mw_dataset *text_dataset(text *t, bool training, mw_error *err)
{
    const size_t end = training ? t->training : t->size, length = (size_t)t->length;
    struct text_part *part = &t->parts[!training];
    *part =
        (struct text_part){.source = t, .begin = training ? 0 : t->training, .stride = training ? length / 2 : length};
    const mw_column columns[] = {{.name = "x", .dtype = MW_U8, .shape = MW_SHAPE(t->length)},
                                 {.name = "y", .dtype = MW_U8, .shape = MW_SHAPE(t->length)}};
    if (err->status != MW_OK)
        return NULL;
    return mw_dataset_create_callback(columns, 2, (int64_t)((end - part->begin - length - 1) / part->stride),
                                      text_window, part, err);
}

/* The letter that a draw in [0, 1) falls on; logits divided by 0.7 make the likely ones likelier. */
static inline int text_draw(const float *logits, int letters, double at)
{
    double total = 0, sum = 0;
    for (int i = 0; i < letters; i++)
        total += exp((double)logits[i] / 0.7);
    for (int i = 0; i < letters; i++)
        if ((sum += exp((double)logits[i] / 0.7)) > at * total)
            return i;
    return letters - 1;
}

/* The window moves on by the letter that the logits of its last place [letters] give. */
static inline void text_write_letter(const text *t, unsigned char *window, const float *logits, uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    const int next = text_draw(logits, t->letter_count, (double)(*state >> 11) / 9007199254740992.0);
    putchar(t->letters[next]);
    memmove(window, window + 1, (size_t)t->length - 1);
    window[t->length - 1] = (unsigned char)next;
}

/* Goes on from the start of the validation text. The first example of the batch is what counts. */
static inline void text_sample(const text *t, mw_trainer *trainer, int64_t examples, int letters, mw_error *err)
{
    const size_t length = (size_t)t->length, count = (size_t)examples * length;
    float *logits = malloc(count * (size_t)t->letter_count * sizeof *logits);
    unsigned char *window = calloc(count, 1);
    const mw_feed feed = {.name = "x", .dtype = MW_U8, .data = window, .count = count, .scale = 1.0f};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = examples};
    uint64_t state = 1;
    if (window != NULL && logits != NULL) {
        memcpy(window, t->codes + t->training, length);
        for (int i = 0; i < letters; i++) {
            if (mw_trainer_predict(trainer, &batch, MW_F32, logits, count * (size_t)t->letter_count, err) != MW_OK)
                break;
            text_write_letter(t, window, logits + (length - 1) * (size_t)t->letter_count, &state);
        }
        putchar('\n');
    }
    free(window);
    free(logits);
}

#endif
