/* What a model says of itself, so that whoever has the file alone can feed it and read what it answers. */
#include "tool/train/training.h"

#include "tool/data_scale.h"
#include "tool/train/pictures.h"
#include "tool/train/sounds.h"

#include <stdlib.h>
#include <string.h>

/* Of the loss. */
static const char *task_of(const training *t)
{
    return recipe_has_classes(t->loss_kind) ? "classes" : recipe_has_labels(t->loss_kind) ? "labels" : "values";
}

static char *copy_table(const training *t, mw_error *err)
{
    char *table = t->data.encoder != NULL ? mw_table_encoder_write(t->data.encoder, err) : NULL;
    char *copy = table != NULL ? strdup(table) : NULL;
    mw_string_free(table);
    return copy;
}

static char *copy_text(const char *text) { return text != NULL ? strdup(text) : NULL; }

/* How the pictures of the data became the input. */
static char *picture_text(const training *t)
{
    const data_parts *d = &t->data;
    if (!d->is_image || d->x == NULL || d->x->dtype != MW_U8)
        return NULL;
    mw_image_options options = d->picture;
    const mw_shape shape = d->x->shape;
    const int first = shape.rank == 3 && options.channels_first ? 1 : 0;
    if (shape.rank < 2 || shape.rank > 3)
        return NULL;
    options.channels = shape.rank == 2 ? 1 : (int)shape.dim[options.channels_first ? 0 : 2];
    options.height = shape.dim[first];
    options.width = shape.dim[first + 1];
    return pictures_text(&options, d->x->scale != 0.0f ? d->x->scale : 1.0f, d->channels > 0 ? d->mean : NULL,
                         d->deviation);
}

bool training_metadata_make(training_metadata *out, const training *t, mw_error *err)
{
    const data_parts *d = &t->data;
    *out = (training_metadata){{class_list_lines(&t->classes), data_offsets_text(&d->offsets), copy_table(t, err),
                                strdup(task_of(t)), copy_text(d->target_name), copy_text(d->field_names),
                                picture_text(t), d->is_sound ? sounds_text(&d->sound) : NULL}};
    return err->status == MW_OK;
}

void training_metadata_free(training_metadata *metadata)
{
    for (size_t i = 0; i < TOOL_MODEL_KEYS; i++)
        free(metadata->texts[i]);
    *metadata = (training_metadata){{NULL}};
}
