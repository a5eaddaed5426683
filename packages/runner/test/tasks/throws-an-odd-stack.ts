/** Its import throws an error whose stack cannot be sent to another thread. */
throw Object.assign(new Error('an odd stack'), { stack: () => 'a function' })
