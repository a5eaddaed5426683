/**
 * The settings of the server. They are passed on the command line at every start, so old data never keeps old settings.
 *
 * No value may contain a space or a character that a shell interprets: pg_ctl passes them through one.
 */
export function settingsFor(durable: boolean): string[] {
  const safety = durable ? 'on' : 'off'
  const settings = {
    // TCP on loopback alone: one URL for every tool, and no limit of 107 characters on the path of a socket.
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    password_encryption: 'scram-sha-256',
    max_connections: 200,
    // Tables of the application go to schema public. By default they would go to a schema named like the role, which is
    // schema q, among q's own tables.
    search_path: 'public',

    fsync: safety,
    synchronous_commit: safety,
    full_page_writes: safety,

    // Releases the locks of a dead client within seconds, even during a statement.
    tcp_keepalives_idle: 3,
    tcp_keepalives_interval: 1,
    tcp_keepalives_count: 3,
    ...(process.platform === 'linux' ? { tcp_user_timeout: 5_000 } : {}),
    client_connection_check_interval: 2_000,

    // One file per weekday, overwritten a week later; one line per error, without the statement and its parameters.
    logging_collector: 'on',
    log_directory: '../log',
    log_filename: 'server-%a.log',
    log_rotation_age: '1d',
    log_rotation_size: 0,
    log_truncate_on_rotation: 'on',
    log_checkpoints: 'off',
    log_min_error_statement: 'panic',
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}
