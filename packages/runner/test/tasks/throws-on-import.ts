throw new Error('no database driver here')
