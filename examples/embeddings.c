/* Searches a text by meaning: the lines that are nearest to a question.
 *     embeddings all-MiniLM-L6-v2 notes.txt "How do I make bread?" [COUNT]
 * The folder is one of sentence-transformers, of the form of BERT. Vectors of length 1 have the cosine as their
 * product. */
#include <millwright/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct line {
    char *text;
    float nearness;
} line;

/* The lines of a file that hold something, and room for one more; NULL if it has none. */
static line *read_lines(const char *path, size_t *count)
{
    FILE *file = fopen(path, "r");
    char text[4096];
    line *lines = NULL, *more;
    while (file != NULL && fgets(text, sizeof text, file) != NULL) {
        text[strcspn(text, "\r\n")] = '\0';
        if (text[0] != '\0' && (more = realloc(lines, (*count + 2) * sizeof *lines)) != NULL)
            (lines = more)[(*count)++] = (line){.text = strdup(text)};
    }
    if (file != NULL)
        fclose(file);
    return lines;
}

static int nearest_first(const void *a, const void *b)
{
    const float difference = ((const line *)b)->nearness - ((const line *)a)->nearness;
    return (difference > 0) - (difference < 0);
}

/* The question is the last of the texts, so that all pass together. */
static void search(mw_text_model *model, line *lines, size_t count, char *question, mw_error *err)
{
    const size_t width = (size_t)mw_text_model_get_config(model)->width;
    mw_embed_options options = mw_embed_defaults();
    const char **texts = malloc((count + 1) * sizeof *texts);
    float *vectors = malloc((count + 1) * width * sizeof *vectors);
    options.unit = true;
    lines[count].text = question;
    for (size_t i = 0; texts != NULL && i <= count; i++)
        texts[i] = lines[i].text;
    if (texts != NULL && vectors != NULL)
        mw_text_model_embed(model, texts, count + 1, &options, vectors, err);
    for (size_t i = 0; err->status == MW_OK && vectors != NULL && i < count; i++)
        for (size_t k = 0; k < width; k++)
            lines[i].nearness += vectors[i * width + k] * vectors[count * width + k];
    qsort(lines, count, sizeof *lines, nearest_first);
    free(texts);
    free(vectors);
}

int main(int argc, char **argv)
{
    mw_error err = {0};
    size_t count = 0;
    line *lines = argc > 3 ? read_lines(argv[2], &count) : NULL;
    mw_text_model *model = lines != NULL ? mw_text_model_open(argv[1], NULL, &err) : NULL;
    if (model != NULL)
        search(model, lines, count, argv[3], &err);
    const bool found = model != NULL && err.status == MW_OK;
    for (size_t i = 0; found && i < count && i < (argc > 4 ? strtoul(argv[4], NULL, 10) : 5); i++)
        printf("%6.3f  %s\n", (double)lines[i].nearness, lines[i].text);
    if (!found)
        fprintf(stderr, "%s\n",
                argc < 4        ? "usage: embeddings FOLDER TEXT QUESTION [COUNT]"
                : lines == NULL ? "no lines"
                                : err.message);
    mw_text_model_destroy(model);
    for (size_t i = 0; i < count; i++)
        free(lines[i].text);
    free(lines);
    return found ? 0 : 1;
}
